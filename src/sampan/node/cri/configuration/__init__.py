"""Configuration of sandboxes and containers in CRI's messages, computed from a Pod's spec.

Read `sandbox.py` and `container.py` first; the other modules compute single parts of both.
"""
