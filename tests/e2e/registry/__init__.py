"""`sampan build` with a real registry: Debian's docker-registry, on loopback."""
