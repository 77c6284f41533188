"""Filters of the request chain, one per file. `server/chain.py` lists them in order."""
