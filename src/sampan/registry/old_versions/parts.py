"""Walking through objects of which any part may be absent or null."""

from collections.abc import Iterator
from typing import Any

from sampan.core.object import Object


def member(obj: Object, *names: str) -> Object:
    """The object at a path, or an empty one that belongs to nobody."""
    for name in names:
        obj = obj.get(name) or {}
    return obj


def items(obj: Object, name: str) -> Iterator[Any]:
    """What a list holds."""
    yield from obj.get(name) or ()


def default(obj: Object, **values: Any) -> None:
    """Fill in what is absent, null or empty."""
    for name, value in values.items():
        if obj.get(name) in (None, "", 0, [], {}):
            obj[name] = value
