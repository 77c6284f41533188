"""Semantic equality of values: empty and absent values are equal.

Source: apimachinery pkg/api/equality/semantic.go (1.36).
"""

from typing import Any


def same(one: Any, other: Any) -> bool:
    """Return True if two decoded values are semantically equal."""
    return bool(one == other or pruned(one) == pruned(other))


def pruned(value: Any) -> Any:
    """Return a copy without nulls, empty texts, lists and objects."""
    if isinstance(value, dict):
        items = {name: pruned(item) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not None} or None
    if isinstance(value, list):
        return [pruned(item) for item in value] or None
    return None if value == "" else value
