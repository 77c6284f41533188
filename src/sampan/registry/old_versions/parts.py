"""Access to parts of stored objects, each of which may be absent or null."""

from collections.abc import Iterator
from typing import Any

from sampan.core.object import Object


def member(obj: Object, *names: str) -> Object:
    """Return the object at a path. If there is none, return a new empty one that is not part of `obj`."""
    for name in names:
        obj = obj.get(name) or {}
    return obj


def items(obj: Object, name: str) -> Iterator[Any]:
    """Yield the items of a list that may be absent or null."""
    yield from obj.get(name) or ()


def default(obj: Object, **values: Any) -> None:
    """Set the fields that are absent, null or empty."""
    for name, value in values.items():
        if obj.get(name) in (None, "", 0, [], {}):
            obj[name] = value


def unchanged(obj: Object) -> None:
    """Leave an object as it is. Its version differs from the newest one only in the name of the group."""
