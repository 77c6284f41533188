"""Tests of `sampan get`, `apply` and their fellows."""
