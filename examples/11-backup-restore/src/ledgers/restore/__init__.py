"""The kind Restore."""
