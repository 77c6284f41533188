"""Blocks of code in the documents: each runs in a test, or is an exception. CONTRIBUTING.md is the guide."""
