"""Streams of running containers: exec, attach, logs and forwarded ports.

Read `cri_streams.py` first; `streaming.py` is the client of the runtime's streaming server.
"""
