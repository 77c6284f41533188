"""Observations of a running cluster: the timeline of an object, endless work, leaks, and suspicious writes.

Read `timeline.py` first: most of the others add to it or read it. `settling.py` waits until nothing can run.
"""
