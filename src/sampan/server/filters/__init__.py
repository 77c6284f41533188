"""The filters of the chain, one per file. `server/chain.py` says in which order they stand."""
