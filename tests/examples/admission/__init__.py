"""Tests of examples/03-admission."""
