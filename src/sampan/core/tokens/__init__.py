"""Tokens of Kubernetes: service account tokens and bootstrap tokens, and the keys that sign and verify them."""
