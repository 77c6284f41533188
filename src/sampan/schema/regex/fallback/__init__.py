"""Matcher in Python for platforms without RE2: `parser` -> `program` -> `automaton` -> `pattern`.

The syntax, the messages and the semantics are those of Go's regexp package. Tests compare it with RE2.
"""
