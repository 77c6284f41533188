"""`Choices`: the source of all decisions in a generated object.

The generators are plain functions of a schema and of choices. So the same code makes the smallest object, a random one
and one that Hypothesis can shrink. A smaller choice is always a simpler object.
"""

import random
from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

T = TypeVar("T")

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
RARE: Final = "A_-. /:é"
"""Characters that programs often treat wrongly."""


class Choices(Protocol):
    """Decisions, in the order in which a generator needs them."""

    def integer(self, low: int, high: int) -> int:
        """Return an integer between both limits, included."""
        ...

    def optional(self) -> bool:
        """Decide if an optional field is set."""
        ...

    def text(self, least: int, most: int) -> str:
        """Return a text with a number of characters between both limits."""
        ...


class Smallest:
    """Always the smallest choice, without optional fields."""

    def integer(self, low: int, high: int) -> int:
        """See `Choices`."""
        return low

    def optional(self) -> bool:
        """See `Choices`."""
        return False

    def text(self, least: int, most: int) -> str:
        """See `Choices`."""
        return "a" * max(least, min(1, most))


class Complete(Smallest):
    """The smallest values, with all optional fields and one item in each list."""

    def optional(self) -> bool:
        """See `Choices`."""
        return True


class Seeded:
    """Random choices that are the same for equal seeds."""

    def __init__(self, seed: int | str = 0) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """See `Choices`."""
        return self._random.randint(low, high)

    def optional(self) -> bool:
        """See `Choices`."""
        return self._random.random() < 0.5

    def text(self, least: int, most: int) -> str:
        """See `Choices`."""
        size = self._random.randint(least, most)
        return "".join(self._random.choice(LETTERS if self._random.random() < 0.9 else RARE) for _ in range(size))


def pick(choices: Choices, items: Sequence[T]) -> T:
    """Return one of the items, which must not be empty. The first is the simplest."""
    return items[choices.integer(0, len(items) - 1)]
