"""Operators that run in a test, their errors, and their requests.

Read `running.py` first; `failures.py` decides which errors fail the test.
"""
