"""Store of an informer: `indexer.py` has the objects and their indexes, `lister.py` reads them."""
