"""The libraries of functions that expressions may use, one module each."""
