"""Built-in kinds: one module for each kind, with all of its special behavior."""
