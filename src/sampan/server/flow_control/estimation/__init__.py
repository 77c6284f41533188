"""Estimation of the seats that a request needs, and for how long.

Read `estimator.py` first. Its input is the size of a resource (`object_stats.py`) and the number of watches that get
the event of a write (`watch_counts.py`).
"""
