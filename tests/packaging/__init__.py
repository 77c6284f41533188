"""Tests of the project's packages."""
