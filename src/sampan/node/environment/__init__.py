"""Environment variables of containers, and the downward API."""
