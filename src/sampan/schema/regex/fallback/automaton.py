"""`Automaton`: runs a program over a text, one lookup for each character.

A state stands for the instructions at which the program may be. States are dicts from a character to the next state; a
missing state is computed from the program (`DfaState.__missing__`). So each character of a text costs one lookup or, at
most, one visit of each instruction: time is linear in the text.

Source: RE2 re2/dfa.cc.
"""

from dataclasses import dataclass
from typing import Final

from sampan.schema.regex.errors import SearchTooLong
from sampan.schema.regex.fallback.charset import NEWLINE, WORD, contains
from sampan.schema.regex.fallback.nodes import (
    BEGIN_LINE,
    BEGIN_TEXT,
    END_LINE,
    END_TEXT,
    NO_WORD_BOUNDARY,
    WORD_BOUNDARY,
)
from sampan.schema.regex.fallback.program import Consume, EmptyWidth, Match, Program, Split

STATES_MAX: Final = 500
"""Maximum number of cached states. When it is reached, all are dropped, so memory is bounded."""
VISITS_MAX: Final = 5_000_000
"""Maximum number of instructions that one search visits, which takes some seconds. Only a large expression on a long
text exceeds it.
"""
_OUTSIDE: Final = -1
"""Context at the start and the end of the text, instead of a code point."""


@dataclass(frozen=True, slots=True)
class MatchKind:
    """Kind of search.

    `anchored`: matches must begin at the first position. `preferred`: find the end of the match that the expression
    prefers, else the end of the longest match. `first`: stop at any match.
    """

    anchored: bool = False
    preferred: bool = False
    first: bool = False


class DfaState(dict[str, "DfaState"]):
    """Instructions at which the program may be, in the order of preference, and the context before the next character.

    `matched`: there was a match before the last character. `closed`: no further match may begin.
    """

    __slots__ = ("at_end", "automaton", "by_class", "closed", "context", "instructions", "matched")

    def __init__(self, automaton: "Automaton", key: tuple[tuple[int, ...], int, bool, bool]) -> None:
        super().__init__()
        self.automaton = automaton
        self.instructions, self.context, self.matched, self.closed = key
        self.by_class: dict[int, DfaState] = {}
        self.at_end: bool | None = None
        """True if there is a match at the end of the text after this state; None if not yet computed."""

    def __missing__(self, character: str) -> "DfaState":
        number = self.automaton.program.class_of(character)
        found = self.by_class.get(number)
        if found is None:
            found = self.by_class[number] = self.automaton.step(self, number)
        if character.isascii():  # other characters are too many to keep
            self[character] = found
        return found

    @property
    def dead(self) -> bool:
        """True if no further match can be found."""
        return self.closed and not self.instructions


class Automaton:
    """States of one program in one mode. Calls of one automaton do not overlap, so its cache needs no lock."""

    def __init__(self, program: Program, mode: MatchKind) -> None:
        self.program = program
        self._mode = mode
        self._states: dict[tuple[tuple[int, ...], int, bool, bool], DfaState] = {}
        self.visits = 0
        self._accepted = self._accepting()

    def begin(self, before: int = _OUTSIDE) -> DfaState:
        """Return the first state. `before`: code point before the first position."""
        self.visits = 0
        at = (self.program.start,) if self._mode.anchored else ()
        return self._state(at, self._context(before), matched=False, closed=self._mode.anchored)

    def step(self, state: DfaState, number: int) -> DfaState:
        """Return the state after a character of a class. Raises `SearchTooLong`."""
        code = self.program.sample(number)
        consuming, matched = self._closure(state, code)
        if matched and self._mode.first:
            return self._accepted
        instructions = self.program.instructions
        reached: dict[int, None] = {}
        for index in consuming:
            instruction = instructions[index]
            if isinstance(instruction, Consume) and number in instruction.classes:
                reached[instruction.after] = None
        at = tuple(reached) if self._mode.preferred else tuple(sorted(reached))
        return self._state(at, self._context(code), matched=matched, closed=state.closed or matched)

    def matches_at(self, state: DfaState, after: int = _OUTSIDE) -> bool:
        """Report whether there is a match at the current position. `after`: the next code point."""
        if after != _OUTSIDE:
            return self._closure(state, after)[1]
        if state.at_end is None:
            state.at_end = self._closure(state, after)[1]
        return state.at_end

    def _accepting(self) -> DfaState:
        """Return a state that accepts the text, whatever characters follow."""
        state = DfaState(self, ((), _OUTSIDE, True, True))
        state.at_end = True
        state.by_class = dict.fromkeys(range(self.program.classes), state)
        return state

    def _state(self, at: tuple[int, ...], context: int, *, matched: bool, closed: bool) -> DfaState:
        key = at, context, matched, closed
        found = self._states.get(key)
        if found is None:
            if len(self._states) >= STATES_MAX:
                for state in self._states.values():
                    state.clear()
                    state.by_class.clear()
                self._states.clear()
            found = self._states[key] = DfaState(self, key)
        return found

    def _context(self, code: int) -> int:
        """Return a code point that represents all code points that the assertions do not distinguish from `code`."""
        if code == _OUTSIDE:
            return _OUTSIDE
        if self.program.has_words and contains(WORD, code):
            return WORD[0][0]
        return NEWLINE[0][0] if self.program.has_lines and contains(NEWLINE, code) else 0

    def _closure(self, state: DfaState, after: int) -> tuple[list[int], bool]:
        """Return the consuming instructions that are reached without a character, in order, and True if there is a
        match.
        """
        instructions, consuming, matched = self.program.instructions, list[int](), False
        seen: set[int] = set()
        waiting = [] if state.closed else [self.program.start]
        waiting += reversed(state.instructions)
        while waiting:
            index = waiting.pop()
            if index in seen:
                continue
            seen.add(index)
            match instructions[index]:
                case Consume():
                    consuming.append(index)
                case Split(first, second):
                    waiting += (second, first)
                case EmptyWidth(kind, goes_on):
                    if _holds(kind, state.context, after):
                        waiting.append(goes_on)
                case Match():
                    matched = True
                    if self._mode.preferred or self._mode.first:
                        break  # All that would follow is less preferred.
        self.visits += len(seen)
        if self.visits > VISITS_MAX:
            raise SearchTooLong
        return consuming, matched


def _holds(kind: str, before: int, after: int) -> bool:
    if kind == BEGIN_TEXT:
        return before == _OUTSIDE
    if kind == END_TEXT:
        return after == _OUTSIDE
    if kind == BEGIN_LINE:
        return before in (_OUTSIDE, NEWLINE[0][0])
    if kind == END_LINE:
        return after in (_OUTSIDE, NEWLINE[0][0])
    differ = contains(WORD, before) != contains(WORD, after)
    return differ if kind == WORD_BOUNDARY else not differ and kind == NO_WORD_BOUNDARY
