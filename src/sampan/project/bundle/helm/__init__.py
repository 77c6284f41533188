"""Helm chart of an operator, made from the same objects as its manifests."""
