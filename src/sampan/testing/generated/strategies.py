"""The Hypothesis strategy of `objects`. Only this module imports Hypothesis.

An object takes 10 to 100 choices. `draw` of an integer strategy spends most of its time on parts that a single choice
does not need: it checks the strategy, unwraps it and records a span. So choices are requested from the test case that
`draw` belongs to, which takes half the time. Its methods are those of Hypothesis' providers. A version of Hypothesis
without them gets the same choices through strategies.
"""

from collections.abc import Iterator
from typing import Any, Final

from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.testing.generated.choices import FEW, Choices, text_from
from sampan.testing.generated.learning import lessons_of
from sampan.testing.generated.lessons import NO_LESSONS
from sampan.testing.generated.repair import generated_object, smallest_object
from sampan.testing.generated.subject import Subject
from sampan.testing.generated.values.semantics import Meanings, built_in

_FLAGS: Final = st.booleans()
_AT_ONCE: Final = 3
"""Fields that one choice decides on. Hypothesis shrinks a number of three bits to any smaller set of fields."""
_FAR: Final = 1 << 100
"""Hypothesis prefers small integers, but not in a range far away from 0, where all have the same probability."""


class Drawn:
    """Choices that Hypothesis makes, records and shrinks."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """Return an integer between both limits, included."""
        return low if low == high else self._draw(st.integers(low, high))

    def spread(self, count: int) -> int:
        """Return a number from 0 to below `count`."""
        return self.integer(0, count - 1)

    def optional(self) -> bool:
        """Decide if an optional field is set."""
        return self._draw(_FLAGS)

    def subset(self, count: int, few: bool) -> Iterator[int]:
        """Yield the numbers of the optional fields that are set, of so many; `few`: about three."""
        if few:
            yield from self._few(count)
            return
        for first in range(0, count, _AT_ONCE):
            bits = self.integer(0, (1 << min(_AT_ONCE, count - first)) - 1)
            for number in range(first, first + _AT_ONCE):
                if bits & 1:
                    yield number
                bits >>= 1

    def _few(self, count: int) -> Iterator[int]:
        """Yield the numbers of two fields for each choice, until one of both is none.

        Each has its own bits, which Hypothesis shifts and masks: so each field can be left out.
        """
        bits = (count + count // 2).bit_length()
        chosen = set()
        for _ in range(FEW // 2):
            pair = self.spread(1 << 2 * bits)
            for number in (pair & ((1 << bits) - 1), pair >> bits):
                if 1 <= number <= count and number not in chosen:
                    chosen.add(number)
                    yield number - 1
            if not 1 <= pair >> bits <= count:
                return

    def length(self, least: int, most: int) -> int:
        """Return the number of items of a list."""
        return self.integer(least, most)

    def text(self, least: int, most: int) -> str:
        """Return a text with a number of characters between both limits."""
        return text_from(self, least, most)


class DrawnAtOnce(Drawn):
    """Choices without a strategy for each number and flag."""

    def __init__(self, draw: st.DrawFn, case: Any) -> None:
        super().__init__(draw)
        self._integer, self._boolean = case.draw_integer, case.draw_boolean

    def integer(self, low: int, high: int) -> int:
        """Return an integer between both limits, included."""
        if low == high:
            return low
        found: int = self._integer(low, high, shrink_towards=low)
        return found

    def spread(self, count: int) -> int:
        """Return a number from 0 to below `count`."""
        found: int = self._integer(_FAR, _FAR + count - 1, shrink_towards=_FAR) - _FAR if count > 1 else 0
        return found

    def optional(self) -> bool:
        """Decide if an optional field is set."""
        found: bool = self._boolean()
        return found


def drawn(draw: st.DrawFn) -> Choices:
    """Return the choices of one test case."""
    case = getattr(draw, "__self__", None)
    if hasattr(case, "draw_integer") and hasattr(case, "draw_boolean"):
        return DrawnAtOnce(draw, case)
    return Drawn(draw)


def objects_of_subject(subject: Subject, base: Object | None, meanings: Meanings, size: int) -> st.SearchStrategy[Any]:
    """Return the strategy of a kind. Raises `NotGenerated` if no valid object is found."""
    if not subject.is_custom:
        meanings = built_in(meanings)
    first = smallest_object(subject, meanings=meanings) if base is None else base

    lessons = NO_LESSONS if subject.is_custom else lessons_of(subject, first, meanings)

    @st.composite
    def made(draw: st.DrawFn) -> Object:
        choices = drawn(draw)
        return generated_object(
            subject, choices, first, meanings=meanings, size=size, lessons=lessons, at_once=not subject.is_custom
        )

    return made()
