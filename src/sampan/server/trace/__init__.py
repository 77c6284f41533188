"""Traces of dry-run writes: the steps of a request, what each changed and how long it took.

A `Recorder` observes the steps as they run: see `registry/write/steps.py`.
"""
