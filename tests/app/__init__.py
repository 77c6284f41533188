"""Tests of sampan.app."""
