"""Tests of examples/01-network."""
