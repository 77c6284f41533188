"""Audit and tracing of a server, from its settings. `observers.py` has both."""
