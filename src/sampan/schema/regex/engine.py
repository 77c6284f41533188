"""`compile_regex`: compiles an expression with the engine of this installation."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Protocol

from sampan.schema.regex.fallback.pattern import FallbackPattern


class Regex(Protocol):
    """Compiled expression. Every search takes time linear in the text. Threads may share it."""

    def matches(self, text: str) -> bool:
        """Report whether the text contains a match. Raises `SearchTooLong`."""

    def accepts(self, text: str) -> bool:
        """Report whether the text contains a match. Return False if the search would take too long."""

    def find_all(self, text: str) -> Iterator[str]:
        """Yield the matches from left to right. Matches do not overlap, and an empty match never directly follows
        another match.

        Raises `SearchTooLong`.
        """


def _installed() -> Callable[[str], Regex]:
    """Return RE2, or the fallback where it is not installed: it has no wheel for musl."""
    try:
        engine: Callable[[str], Regex] = import_module("sampan.schema.regex.re2_pattern").Re2Pattern
    except ModuleNotFoundError as error:
        if error.name != "re2":
            raise
        return FallbackPattern
    return engine


_compile = _installed()


def compile_regex(pattern: str) -> Regex:
    """Compile an expression in Go's syntax. Raises `ValueError` with Go's message if it is invalid."""
    return _compile(pattern)
