"""`cut`: make `DeepJson` leaves in a value that was made of other values, or decoded from another format than JSON."""

from typing import Any

from sampan.core.deep_json import DEPTH_MAX, LEVELS_MAX, LEVELS_WALKED, DeepJson, dumps, items
from sampan.core.json.values import with_whole_numbers


def cut(value: Any) -> Any:
    """Return a value of any depth, with leaves for parts that exceed `LEVELS_MAX` levels. Changes its lists and dicts.

    Raises `ValueError` if there are more than `DEPTH_MAX` levels.
    """
    levels = _levels(value)
    if len(levels) <= LEVELS_MAX:
        return value
    # The deepest leaves are made first, so no encoded part has more than `LEVELS_WALKED` levels itself.
    last = (len(levels) - 1) // LEVELS_WALKED * LEVELS_WALKED
    for level in range(last, 0, -LEVELS_WALKED):
        for parent in levels[level - 1]:
            pairs = parent.items() if parent.__class__ is dict else enumerate(parent)
            for key, item in list(pairs):
                if item.__class__ in (dict, list) and (level > LEVELS_WALKED or _exceeds(item)):
                    parent[key] = DeepJson(dumps(with_whole_numbers(item), sort=True))
    return value


def _levels(value: Any) -> list[list[Any]]:
    """Return the lists and dicts of each level, the outermost first."""
    levels: list[list[Any]] = []
    current = [value] if value.__class__ in (dict, list) else []
    while current:
        levels.append(current)
        if len(levels) > DEPTH_MAX:
            raise ValueError("exceeded max depth")
        current = [item for one in current for item in items(one) if item.__class__ in (dict, list)]
    return levels


def _exceeds(value: Any) -> bool:
    """Return True if a part below `LEVELS_WALKED` reaches beyond `LEVELS_MAX`, or contains a leaf that does."""
    current = [value]
    for _ in range(LEVELS_MAX - LEVELS_WALKED):
        below = [item for one in current for item in items(one)]
        if any(item.__class__ is DeepJson for item in below):
            return True
        current = [item for item in below if item.__class__ in (dict, list)]
        if not current:
            return False
    return True
