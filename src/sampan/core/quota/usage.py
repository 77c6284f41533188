"""Amounts of resources by name. Source: staging k8s.io/apiserver pkg/quota/v1/resources.go (1.36)."""

from collections.abc import Mapping
from typing import Any

from sampan.core.numbers.quantity import Quantity, canonical, parse

Usage = dict[str, Quantity]
"""Amounts by resource name."""

ZERO = Quantity(0)
ONE = Quantity(1)


def amounts(values: Mapping[str, Any] | None) -> Usage:
    """Parse the amounts in a part of an object, given as strings or numbers. Raises `ValueError`."""
    return {name: parse(canonical(value)) for name, value in (values or {}).items()}


def add(one: Mapping[str, Quantity], other: Mapping[str, Quantity]) -> Usage:
    """Return the sum of each resource."""
    total = dict(one)
    for name, amount in other.items():
        total[name] = total[name] + amount if name in total else amount
    return total


def most(one: Mapping[str, Quantity], other: Mapping[str, Quantity]) -> Usage:
    """Return the maximum of each resource."""
    return {**one, **{name: max(amount, one.get(name, amount)) for name, amount in other.items()}}
