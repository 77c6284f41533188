"""Tests of `kubectl sampan`."""
