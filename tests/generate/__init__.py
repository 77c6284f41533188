"""Tests of sampan.generate."""
