"""`sampan token`: bootstrap tokens, with which machines join a cluster."""
