"""The verb watch: a stream of events over HTTP, HTTP/2 or a WebSocket.

Read `watch.py` first, then `frames.py`: each event is encoded once for all watchers. Versions that a webhook converts
to are in `converted_events.py`.
"""
