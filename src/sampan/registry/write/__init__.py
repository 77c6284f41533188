"""The path of a write from the request to the store: one list of steps for all of them.

`steps.py` defines the list and `runner.py` runs it. `write.py` defines the `Write` that the steps process.
"""
