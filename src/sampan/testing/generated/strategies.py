"""The Hypothesis strategy of `objects`. Only this module imports Hypothesis."""

from typing import Any, Final

from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.testing.generated.choices import LETTERS, RARE
from sampan.testing.generated.repair import generated_object, smallest_object
from sampan.testing.generated.semantics import Meanings
from sampan.testing.generated.subject import Subject

_ALPHABET: Final = LETTERS + RARE
_FLAGS: Final = st.booleans()


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
        return self._draw(st.text(_ALPHABET, min_size=least, max_size=most))


def objects_of_subject(subject: Subject, base: Object | None, meanings: Meanings, size: int) -> st.SearchStrategy[Any]:
    """Return the strategy of a kind. Raises `NotGenerated` if no valid object is found."""
    first = smallest_object(subject, meanings=meanings) if base is None else base

    @st.composite
    def made(draw: st.DrawFn) -> Object:
        return generated_object(subject, Drawn(draw), first, meanings=meanings, size=size)

    return made()
