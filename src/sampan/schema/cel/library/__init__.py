"""Libraries of functions for expressions, one module each."""
