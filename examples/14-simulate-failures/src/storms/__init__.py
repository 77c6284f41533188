"""The operator storms."""
