"""Blocking client: the same calls without `await`.

`loop_thread.py` runs an event loop in a thread; `client.py` and `resource_client.py` run the asynchronous clients on
it.
"""
