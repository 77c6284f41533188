"""Fairness on the event loop: tasks with a parent, work in threads, and limits of one turn.

Read `task_scope.py` and `offload.py` first. `turns.py` and `time_slices.py` limit work that stays on the loop;
`watch.py` reports what still blocks it.
"""
