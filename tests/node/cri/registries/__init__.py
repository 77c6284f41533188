"""Registries of a node."""
