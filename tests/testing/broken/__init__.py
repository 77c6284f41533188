"""Operators that never work, or harm their own objects, and their repaired twins."""
