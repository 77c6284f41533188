"""`Choices`: the source of all decisions in a generated object.

The generators are plain functions of a schema and of choices. So the same code makes the smallest object, a random one
and one that Hypothesis can shrink. A smaller choice is always a simpler object.
"""

import random
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

T = TypeVar("T")

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
RARE: Final = "A_-. /:é"
"""Characters that programs often treat wrongly."""
_DIGITS: Final = LETTERS + RARE + LETTERS[: 63 - len(LETTERS + RARE)]
"""Characters of the digits 1 to 63 in a number that stands for a text. The digit 0 stands for none."""
FEW: Final = 6
"""Largest number of optional fields of an object that has many."""
_LONG: Final = 8
"""A longer text has a length that is a choice too: most numbers in a large range have all digits."""


class Choices(Protocol):
    """Decisions, in the order in which a generator needs them."""

    def integer(self, low: int, high: int) -> int:
        """Return an integer between both limits, included."""
        ...

    def spread(self, count: int) -> int:
        """Return a number from 0 to below `count`. All are equally likely, also in a large range."""
        ...

    def optional(self) -> bool:
        """Decide if an optional field is set."""
        ...

    def subset(self, count: int, few: bool) -> Iterable[int]:
        """Yield the numbers of the optional fields that are set, of so many; `few`: about three.

        A caller makes the value of a field before it requests the next one.
        """
        ...

    def length(self, least: int, most: int) -> int:
        """Return the number of items of a list."""
        ...

    def text(self, least: int, most: int) -> str:
        """Return a text with a number of characters between both limits."""
        ...


class Smallest:
    """Always the smallest choice, without optional fields."""

    def integer(self, low: int, high: int) -> int:
        """Return an integer between both limits, included."""
        return low

    def spread(self, count: int) -> int:
        """Return a number from 0 to below `count`."""
        return 0

    def optional(self) -> bool:
        """Decide if an optional field is set."""
        return False

    def subset(self, count: int, few: bool) -> Iterable[int]:
        """Yield the numbers of the optional fields that are set, of so many; `few`: about three."""
        return ()

    def length(self, least: int, most: int) -> int:
        """Return the number of items of a list."""
        return least

    def text(self, least: int, most: int) -> str:
        """Return a text with a number of characters between both limits."""
        return "a" * max(least, min(1, most))


class Complete(Smallest):
    """The smallest values, with all optional fields and one item in each list."""

    def optional(self) -> bool:
        """Decide if an optional field is set."""
        return True

    def subset(self, count: int, few: bool) -> Iterable[int]:
        """Yield the numbers of the optional fields that are set, of so many; `few`: about three."""
        return range(count)

    def length(self, least: int, most: int) -> int:
        """Return the number of items of a list."""
        return max(least, min(1, most))


class Seeded:
    """Random choices that are the same for equal seeds."""

    def __init__(self, seed: int | str = 0) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """Return an integer between both limits, included."""
        return self._random.randint(low, high)

    def spread(self, count: int) -> int:
        """Return a number from 0 to below `count`."""
        return self._random.randrange(count)

    def optional(self) -> bool:
        """Decide if an optional field is set."""
        return self._random.random() < 0.5

    def subset(self, count: int, few: bool) -> Iterable[int]:
        """Yield the numbers of the optional fields that are set, of so many; `few`: about three."""
        if few:
            return self._random.sample(range(count), min(count, self._random.randint(0, FEW)))
        bits = self._random.getrandbits(count) if count else 0
        return [number for number in range(count) if bits >> number & 1]

    def length(self, least: int, most: int) -> int:
        """Return the number of items of a list."""
        return self._random.randint(least, most)

    def text(self, least: int, most: int) -> str:
        """Return a text with a number of characters between both limits."""
        size = self._random.randint(least, most)
        return "".join(self._random.choice(LETTERS if self._random.random() < 0.9 else RARE) for _ in range(size))


def pick(choices: Choices, items: Sequence[T]) -> T:
    """Return one of the items, which must not be empty. The first is the simplest."""
    return items[choices.integer(0, len(items) - 1)]


def parts(number: int, *counts: int) -> list[int]:
    """Split a number below the product of the counts into one number below each count.

    One choice for several small numbers is much faster than a choice for each.
    """
    found = []
    for count in counts:
        number, part = divmod(number, count)
        found.append(part)
    return found


def text_from(choices: Choices, least: int, most: int) -> str:
    """Return a text that one number stands for. A smaller number gives a shorter or simpler text."""
    if most > _LONG:
        least = most = choices.integer(least, most)
    if most <= 0:
        return ""
    number = choices.integer(0, (1 << 6 * most) - 1)
    found = []
    while number:
        digit = number & 63
        if digit:
            found.append(_DIGITS[digit - 1])
        number >>= 6
    return "".join(found).ljust(least, "a")
