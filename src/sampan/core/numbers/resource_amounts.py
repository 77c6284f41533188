"""Amounts of resources as integers: CPU in thousandths of a core, all other resources in units."""

import functools
from collections.abc import Mapping
from typing import Final

from sampan.core.numbers.quantity import parse

CPU: Final = "cpu"
AMOUNT_MAX: Final = 1 << 56
"""Upper bound of all amounts, so that sums over a Node's Pods fit into 64 bits."""

Amounts = dict[str, int]


@functools.lru_cache(maxsize=4096)
def _parsed(text: str, scale: int) -> int:
    return max(-AMOUNT_MAX, min(AMOUNT_MAX, parse(text).scaled_value(scale)))


def amount(resource: str, value: str | int | float) -> int:
    """Return one amount as an integer; 0 for a malformed quantity, which the API server rejects anyway."""
    try:
        return _parsed(str(value), -3 if resource == CPU else 0)
    except ValueError:
        return 0


def amounts(quantities: Mapping[str, str | int | float]) -> Amounts:
    """Return the amounts as integers, by resource name."""
    return {resource: amount(resource, value) for resource, value in quantities.items()}
