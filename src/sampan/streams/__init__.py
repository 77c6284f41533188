"""Streams of bytes: many of them on one connection, with flow control. The tunnels of nodes consist of them.

`session.py` has the connection, `transport.py` one stream, `tunnels.py` the open tunnels of a server.
"""
