"""Attacks on a running server by users of limited rights: `python -m tests.attack`."""
