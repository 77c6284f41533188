"""Layers between a client and HTTP.

Each one is a transport that wraps another transport; `client/stack.py` puts them in order.
"""
