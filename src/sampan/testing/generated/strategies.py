"""The Hypothesis strategy of `objects`. Only this module imports Hypothesis.

An object takes 10 to 100 choices. `draw` of an integer strategy spends most of its time on parts that a single choice
does not need: it checks the strategy, unwraps it and records a span. So choices are requested from the test case that
`draw` belongs to, which takes half the time. Its methods are those of Hypothesis' providers. A version of Hypothesis
without them gets the same choices through strategies.
"""

from functools import lru_cache
from typing import Any, Final

from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.testing.generated.choices import LETTERS, RARE, Choices
from sampan.testing.generated.repair import generated_object, smallest_object
from sampan.testing.generated.semantics import Meanings
from sampan.testing.generated.subject import Subject

_ALPHABET: Final = LETTERS + RARE
_FLAGS: Final = st.booleans()


@lru_cache(256)
def _texts(least: int, most: int) -> st.SearchStrategy[str]:
    """Return the strategy of texts. To make one takes longer than to draw from it."""
    return st.text(_ALPHABET, min_size=least, max_size=most)


class Drawn:
    """Choices that Hypothesis makes, records and shrinks."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        """See `Choices`."""
        return low if low == high else self._draw(st.integers(low, high))

    def optional(self) -> bool:
        """See `Choices`."""
        return self._draw(_FLAGS)

    def text(self, least: int, most: int) -> str:
        """See `Choices`."""
        return self._draw(_texts(least, most))


class DrawnAtOnce(Drawn):
    """Choices without a strategy for each number and flag."""

    def __init__(self, draw: st.DrawFn, case: Any) -> None:
        super().__init__(draw)
        self._integer, self._boolean = case.draw_integer, case.draw_boolean

    def integer(self, low: int, high: int) -> int:
        """See `Choices`."""
        if low == high:
            return low
        found: int = self._integer(low, high, shrink_towards=low)
        return found

    def optional(self) -> bool:
        """See `Choices`."""
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
    first = smallest_object(subject, meanings=meanings) if base is None else base

    @st.composite
    def made(draw: st.DrawFn) -> Object:
        return generated_object(subject, drawn(draw), first, meanings=meanings, size=size)

    return made()
