"""Paths of fields in rules: `.spec.network.cidr`, or `.spec.ports[].number` for a field of each item of a list.

They lead through objects and lists, never into maps.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sampan.schema.structural import UNSET, Schema

FieldPath = tuple[str, ...]
ITEMS = "[]"
"""Path element for each item of the list before it."""
_NAME = r"\.[A-Za-z_$][A-Za-z0-9_$-]*"
_FORM = re.compile(rf"({_NAME}(\[\])*)*{_NAME}")


def parse_path(text: str) -> FieldPath | None:
    """Parse a path into names; None if it is invalid."""
    return tuple(text[1:].replace(ITEMS, f".{ITEMS}").split(".")) if _FORM.fullmatch(text) else None


def show_path(path: FieldPath) -> str:
    """Return the text of a path."""
    return "".join(name if name == ITEMS else f".{name}" for name in path)


def split_items(path: FieldPath) -> tuple[FieldPath, FieldPath]:
    """Split a path after its last list: the path to the items, and the path inside an item."""
    inside = next((index for index in range(len(path), 0, -1) if path[index - 1] == ITEMS), 0)
    return path[:inside], path[inside:]


def items_at(obj: Any, items: FieldPath) -> Iterator[dict[str, Any]]:
    """Yield the objects that `items` leads to; `obj` itself if `items` is empty."""
    if not items:
        if isinstance(obj, dict):
            yield obj
        return
    name, rest = items[0], items[1:]
    if name == ITEMS:
        for item in obj if isinstance(obj, list) else ():
            yield from items_at(item, rest)
    elif isinstance(obj, dict) and name in obj:
        yield from items_at(obj[name], rest)


def overlaps(one: FieldPath, other: FieldPath) -> bool:
    """Return True if the paths are equal or one contains the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def value_at(obj: Any, path: FieldPath) -> Any:
    """Return the value, or UNSET."""
    for name in path:
        if not isinstance(obj, Mapping) or name not in obj:
            return UNSET
        obj = obj[name]
    return obj


def take(obj: dict[str, Any], path: FieldPath) -> Any:
    """Remove and return the value (or UNSET). Also remove the objects around it that are then empty."""
    parents = [obj]
    for name in path[:-1]:
        child = parents[-1].get(name)
        if not isinstance(child, dict):
            return UNSET
        parents.append(child)
    if path[-1] not in parents[-1]:
        return UNSET
    value = parents[-1].pop(path[-1])
    for depth in range(len(parents) - 1, 0, -1):
        if parents[depth]:
            break
        del parents[depth - 1][path[depth - 1]]
    return value


def put(obj: dict[str, Any], path: FieldPath, value: Any) -> bool:
    """Set the value and create the objects around it. Return False if another value blocks the path."""
    for name in path[:-1]:
        child = obj.setdefault(name, {})
        if not isinstance(child, dict):
            return False
        obj = child
    obj[path[-1]] = value
    return True


def schema_at(schema: Schema, path: FieldPath) -> Schema | None:
    """Return the schema of the field; None if there is no such field."""
    for name in path:
        child = schema.items if name == ITEMS else schema.properties.get(name)
        if child is None:
            return None
        schema = child
    return schema
