"""Allocation of seats: each class gets the same proportion of its target, within its bounds.

Source: apiserver pkg/util/flowcontrol/conc_alloc.go (1.36).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

TARGET_MIN: Final = 0.001
_EPSILON: Final = 1e-7


class AllocationItem(NamedTuple):
    """Target of a class, and the bounds of its share."""

    target: float
    lower: float
    upper: float


def allocate(total: int, items: Sequence[AllocationItem]) -> tuple[list[float], float]:
    """Return shares that sum up to `total`, and the proportion: share = min(upper, max(lower, proportion * target)).

    Raises `ValueError` if the bounds permit no solution.
    """
    items = [AllocationItem(max(item.target, TARGET_MIN), item.lower, item.upper) for item in items]
    low, high = sum(item.lower for item in items), sum(item.upper for item in items)
    if any(not 0 <= item.lower <= item.upper or item.lower > item.target + _EPSILON for item in items):
        raise ValueError("bounds must satisfy 0 <= lower <= target and lower <= upper")
    if low - total > _EPSILON:
        raise ValueError(f"lower bounds sum to {low}, which is higher than the required sum of {total}")
    if total - high > _EPSILON:
        raise ValueError(f"upper bounds sum to {high}, which is lower than the required sum of {total}")
    if not total or not items:
        return [0.0] * len(items), 0.0
    proportion = _proportion(total, items)
    return [min(item.upper, max(item.lower, proportion * item.target)) for item in items], proportion


def _proportion(total: int, items: Sequence[AllocationItem]) -> float:
    """Return the proportion at which the sum of the shares is `total`. The sum is a piecewise linear function of it."""
    bounds = [(item.lower / item.target, item.upper / item.target, item.target) for item in items]
    bends = sorted({0.0, *(bend for lower, upper, _ in bounds for bend in (lower, upper))})
    at, reached = bends[0], sum(item.lower for item in items)
    for bend in bends[1:]:
        # Between two bends, the shares that are not at one of their bounds grow.
        growing = sum(target for lower, upper, target in bounds if lower <= at < upper)
        if growing and reached + growing * (bend - at) >= total:
            return at + (total - reached) / growing
        reached += growing * (bend - at)
        at = bend
    return at
