"""API servers that share one store: their addresses, identity Leases and keys."""
