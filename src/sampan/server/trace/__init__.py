"""Traces of dry-run writes: each step of a request's way, what it changed and what it took.

A trace is made by putting observed parts in the place of a request's own: see `seams.py`. Untraced requests know
nothing of it.
"""
