"""`/dashboard/stream`: many watches of one page on one WebSocket (ADR 34).

Read `multiplex.py` first: the socket and its bounds. `messages.py` has what the page may send, and `subscription.py`
the way of one request through the server.
"""
