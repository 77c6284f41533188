"""`Range`: a size or a cost of which the least and the most are known. Source: cel-go checker/cost.go (0.26)."""

import math
from typing import NamedTuple

UNBOUNDED = (1 << 64) - 1
"""The cap of sizes and costs."""


class Range(NamedTuple):
    """Least and most."""

    low: int
    high: int

    def plus(self, other: "Range") -> "Range":
        """The sum."""
        return Range(min(self.low + other.low, UNBOUNDED), min(self.high + other.high, UNBOUNDED))

    def times(self, other: "Range") -> "Range":
        """The product."""
        return Range(min(self.low * other.low, UNBOUNDED), min(self.high * other.high, UNBOUNDED))

    def scaled(self, factor: float) -> "Range":
        """Multiplied, rounded up."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def union(self, other: "Range") -> "Range":
        """What covers both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def _scaled(value: int, factor: float) -> int:
    product = float(value) * factor
    return UNBOUNDED if product >= 2.0**64 else math.ceil(product)


def fixed(value: int) -> Range:
    """A known size or cost."""
    return Range(value, value)


ZERO, ONE, UNKNOWN = fixed(0), fixed(1), Range(0, UNBOUNDED)
