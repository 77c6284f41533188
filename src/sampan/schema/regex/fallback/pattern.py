"""`FallbackPattern`: searches with a compiled expression."""

import threading
from collections.abc import Iterator
from functools import cached_property

from sampan.schema.regex.errors import SearchTooLong
from sampan.schema.regex.fallback.automaton import Automaton, MatchKind
from sampan.schema.regex.fallback.parser import parse
from sampan.schema.regex.fallback.program import Program

Span = tuple[int, int]


class FallbackPattern:
    """Compiled expression. Raises `RegexError` if it is invalid. Threads may share it: a lock protects its states."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tree = parse(text)
        self._program = Program(text, self._tree)
        self._any = Automaton(self._program, MatchKind(first=True))
        self._lock = threading.Lock()

    def matches(self, text: str) -> bool:
        """Report whether the text contains a match. Raises `SearchTooLong`."""
        with self._lock:
            state = self._any.begin()
            for character in text:
                state = state[character]
            return self._any.matches_at(state)

    def accepts(self, text: str) -> bool:
        """Report whether the text contains a match. Return False if the search would take too long."""
        try:
            return self.matches(text)
        except SearchTooLong:
            return False

    def find_all(self, text: str) -> Iterator[str]:
        """Yield the matches from left to right. Matches do not overlap, and an empty match never directly follows
        another match.

        Raises `SearchTooLong`.
        """
        start, last = 0, -1
        while start <= len(text):
            with self._lock:
                span = self.span(text, start)
            if span is None:
                return
            if span != (last, last):
                yield text[span[0] : span[1]]
            last = span[1]
            start = last + 1 if span[0] == span[1] else last

    def span(self, text: str, start: int = 0) -> Span | None:
        """Return the span of the leftmost match from `start` on. Of several matches at that position, return the
        preferred one. Raises `SearchTooLong`.
        """
        end = self._end(text, start)
        return None if end is None else (self._start(text, start, end), end)

    @cached_property
    def _ends(self) -> Automaton:
        return Automaton(self._program, MatchKind(preferred=True))

    @cached_property
    def _starts(self) -> Automaton:
        return Automaton(Program(self._text, self._tree, backwards=True), MatchKind(anchored=True))

    def _end(self, text: str, start: int) -> int | None:
        found = None
        state = self._ends.begin(ord(text[start - 1])) if start else self._ends.begin()
        for at in range(start, len(text)):
            state = state[text[at]]
            if state.matched:
                found = at
            if state.dead:
                return found
        return len(text) if self._ends.matches_at(state) else found

    def _start(self, text: str, first: int, end: int) -> int:
        """Return the start of the longest match that ends at `end` and does not begin before `first`."""
        found = end
        state = self._starts.begin(ord(text[end])) if end < len(text) else self._starts.begin()
        for at in range(end - 1, first - 1, -1):
            state = state[text[at]]
            if state.matched:
                found = at + 1
            if state.dead:
                return found
        matches = self._starts.matches_at(state, ord(text[first - 1])) if first else self._starts.matches_at(state)
        return first if matches else found
