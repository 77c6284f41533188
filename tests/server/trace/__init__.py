"""Tests of traces of requests."""
