"""Audit and tracing of a server, from its settings. `observability.py` has both."""
