"""Validation of objects by their schema.

Read `check.py` first: it decides quickly whether a value is valid. `report.py` makes the errors of an invalid one; the
other modules have the rules that both share.
"""
