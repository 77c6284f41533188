"""The kind Storm."""
