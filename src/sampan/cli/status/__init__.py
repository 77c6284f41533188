"""`sampan status`: state of a data directory and of its server."""
