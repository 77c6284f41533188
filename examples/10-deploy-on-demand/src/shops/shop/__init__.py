"""The kind Shop."""
