"""Blocks of code in the documents: each runs in a test, or is an exception. docs/development.md is the guide."""
