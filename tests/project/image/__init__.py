"""Images of projects."""
