"""The operator shops."""
