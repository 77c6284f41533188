"""Causes and cures of errors: the data behind `sampan errors`, the page of errors and the hints in error texts."""
