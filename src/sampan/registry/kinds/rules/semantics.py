"""When two values mean the same: what is empty is as good as absent.

Source: apimachinery pkg/api/equality/semantic.go (1.36).
"""

from typing import Any


def same(one: Any, other: Any) -> bool:
    """Whether two decoded values mean the same."""
    return bool(one == other or pruned(one) == pruned(other))


def pruned(value: Any) -> Any:
    """A copy without nulls, empty texts, lists and objects."""
    if isinstance(value, dict):
        items = {name: pruned(item) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not None} or None
    if isinstance(value, list):
        return [pruned(item) for item in value] or None
    return None if value == "" else value
