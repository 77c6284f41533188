"""Rights of operators in tests: the rights that they use, files with their roles, and a record over many tests."""
