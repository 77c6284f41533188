"""The kind Migration."""
