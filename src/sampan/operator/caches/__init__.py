"""Caches of a manager: reads from informers, with the client's own writes included.

Read `cached_client.py` first, then `cache.py`; `options.py` selects what a cache contains.
"""
