"""Which API servers there are on one store: where each is, and who it is."""
