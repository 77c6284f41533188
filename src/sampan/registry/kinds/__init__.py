"""Built-in kinds: one module for each, with everything that is special to the kind."""
