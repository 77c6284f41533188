"""The estimate of what an expression may cost at most, from the limits that schemas declare.

Source: cel-go checker/cost.go (0.26) with apiserver pkg/cel/library/cost.go (1.36) for the functions of libraries.
Costs and sizes are ranges (least, most); the most is capped at `UNBOUNDED`.
"""

import math
from typing import NamedTuple

from sampan.schema.cel.types import CelType, is_optional

UNBOUNDED = (1 << 64) - 1


class Range(NamedTuple):
    """A size or a cost: least and most."""

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


UNKNOWN = Range(0, UNBOUNDED)
ZERO, ONE = Range(0, 0), Range(1, 1)
Path = tuple[str, ...]


class Call_(NamedTuple):
    """The cost of a call and the size of its result, if known."""

    cost: Range
    size: Range | None = None


class _Entries(NamedTuple):
    container: str
    key: Range
    value: Range


class _Local(NamedTuple):
    path: Path
    size: Range | None
    entries: _Entries | None


def _is_scalar(kind: CelType) -> bool:
    if is_optional(kind):
        return _is_scalar(kind.params[0])
    return kind.kind in ("bool", "double", "duration", "int", "timestamp", "uint")
