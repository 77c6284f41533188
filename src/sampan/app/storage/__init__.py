"""Store of a server: its place on disk or on the network, its lock, its encryption, and copies of it.

Read `store.py` and `at_rest.py` first; `copy.py` moves the content to another store.
"""
