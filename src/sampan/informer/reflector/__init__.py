"""Reflector: keeps a store equal to a collection on the server.

Read `reflector.py` first. Lists come in pages or as a stream (`paged_list.py`, `streamed_list.py`); `events.py` decodes
watch events. `watch_failure.py` and `watch_retry.py` decide what follows a broken watch.
"""
