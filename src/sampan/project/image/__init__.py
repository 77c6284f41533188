"""Images of projects: what `sampan build` does."""
