"""Delay that a single request causes for an unrelated client of the same server."""
