"""Checks of an expression before it runs: types, overloads, and literals that would always fail."""
