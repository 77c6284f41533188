"""Decoding of built-in kinds as Go decodes them.

Read `decode.py` first; the other modules make Go's errors and nulls.
"""
