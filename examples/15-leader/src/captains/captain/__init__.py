"""The kind Captain."""
