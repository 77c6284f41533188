"""Streams on one connection."""
