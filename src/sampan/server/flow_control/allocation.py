"""How the seats are shared: each class gets the same proportion of what it wants, within its bounds.

Source: apiserver pkg/util/flowcontrol/conc_alloc.go (1.36).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

TARGET_MIN: Final = 0.001
_EPSILON: Final = 1e-7


class Wish(NamedTuple):
    """What a class wants, and what it must and may get."""

    target: float
    lower: float
    upper: float


def allocate(total: int, wishes: Sequence[Wish]) -> tuple[list[float], float]:
    """Shares that sum up to `total`, and the proportion: share = min(upper, max(lower, proportion * target)).

    Raises `ValueError` when the bounds leave no solution.
    """
    wishes = [Wish(max(wish.target, TARGET_MIN), wish.lower, wish.upper) for wish in wishes]
    low, high = sum(wish.lower for wish in wishes), sum(wish.upper for wish in wishes)
    if any(not 0 <= wish.lower <= wish.upper or wish.lower > wish.target + _EPSILON for wish in wishes):
        raise ValueError("bounds are not in order")
    if low - total > _EPSILON:
        raise ValueError(f"lower bounds sum to {low}, which is higher than the required sum of {total}")
    if total - high > _EPSILON:
        raise ValueError(f"upper bounds sum to {high}, which is lower than the required sum of {total}")
    if not total or not wishes:
        return [0.0] * len(wishes), 0.0
    proportion = _proportion(total, wishes)
    return [min(wish.upper, max(wish.lower, proportion * wish.target)) for wish in wishes], proportion


def _proportion(total: int, wishes: Sequence[Wish]) -> float:
    """Where the sum of the shares, which grows with the proportion in straight pieces, meets `total`."""
    bounds = [(wish.lower / wish.target, wish.upper / wish.target, wish.target) for wish in wishes]
    bends = sorted({0.0, *(bend for lower, upper, _ in bounds for bend in (lower, upper))})
    at, reached = bends[0], sum(wish.lower for wish in wishes)
    for bend in bends[1:]:
        # Between two bends those grow that are off both their bounds.
        growing = sum(target for lower, upper, target in bounds if lower <= at < upper)
        if growing and reached + growing * (bend - at) >= total:
            return at + (total - reached) / growing
        reached += growing * (bend - at)
        at = bend
    return at
