"""Logs of processes in CRI's text format: writing with a bounded size, and reading."""
