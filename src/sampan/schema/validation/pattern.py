"""Patterns of schemas, in Go's syntax, matched in time linear in the text."""

import functools
from collections.abc import Callable

from sampan.schema.regex.engine import compile_regex

PATTERNS_KEPT_MAX = 1024
"""Maximum number of cached patterns. Each may use 100 kB, and a CRD may have tens of thousands."""


@functools.lru_cache(PATTERNS_KEPT_MAX)
def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a function that reports whether a text contains a match. It refuses a text that takes too long.

    Raises `ValueError` with Go's message when the pattern is invalid.
    """
    return compile_regex(pattern).accepts
