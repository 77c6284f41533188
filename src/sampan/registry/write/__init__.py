"""The path of a write from the request to the store: one list of steps for all of them.

`steps.py` has the list, `runner.py` runs it, `write.py` has the value that the steps work on.
"""
