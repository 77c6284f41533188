"""Pictures of the documentation, drawn from descriptions."""
