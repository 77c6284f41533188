"""The kind Publication."""
