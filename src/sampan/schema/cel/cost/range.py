"""`Range`: minimum and maximum of a size or a cost. Source: cel-go checker/cost.go (0.26)."""

import math
from typing import NamedTuple

UNBOUNDED = (1 << 64) - 1
"""Upper limit of sizes and costs."""


class Range(NamedTuple):
    """Minimum and maximum."""

    low: int
    high: int

    def plus(self, other: "Range") -> "Range":
        """Return the sum."""
        return Range(min(self.low + other.low, UNBOUNDED), min(self.high + other.high, UNBOUNDED))

    def times(self, other: "Range") -> "Range":
        """Return the product."""
        return Range(min(self.low * other.low, UNBOUNDED), min(self.high * other.high, UNBOUNDED))

    def scaled(self, factor: float) -> "Range":
        """Return the range multiplied by a factor, rounded up."""
        return Range(_scaled(self.low, factor), _scaled(self.high, factor))

    def union(self, other: "Range") -> "Range":
        """Return the smallest range that contains both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


def _scaled(value: int, factor: float) -> int:
    product = float(value) * factor
    return UNBOUNDED if product >= 2.0**64 else math.ceil(product)


def fixed(value: int) -> Range:
    """Return the range of a known size or cost."""
    return Range(value, value)


ZERO, ONE, UNKNOWN = fixed(0), fixed(1), Range(0, UNBOUNDED)
