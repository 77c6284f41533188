"""Tests of the plug-ins of the `sampan` command."""
