"""Owners of objects: owner references, and objects whose names follow from their owner."""
