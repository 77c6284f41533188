"""Places of values in objects and in schemas."""

import re
from typing import Any, Final

from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.schema.structural import Schema

_STEP: Final = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")

Step = str | int
Place = tuple[Step, ...]


def place_of(obj: Object, path: str) -> Place:
    """Return the steps of a field path (`spec.ports[0].name`). Keys of maps may contain dots."""
    found: list[Step] = []
    value: Any = obj
    for match in _STEP.finditer(path):
        word = match[1] if match[1] is not None else match[2]
        step: Step = int(word) if match[1] is None and isinstance(value, list) and word.isdigit() else word
        found.append(step)
        value = value_at({"": value}, ("", step))
    return tuple(found)


def value_at(obj: Any, place: Place) -> Any:
    """Return the value at a place, or None."""
    for step in place:
        is_item = isinstance(obj, list) and isinstance(step, int) and step < len(obj)
        if not is_item and not (isinstance(obj, dict) and step in obj):
            return None
        obj = obj[step]
    return obj


def schema_at(schema: Schema, place: Place) -> Schema | None:
    """Return the node of a place, or None."""
    found: Schema | None = schema
    for step in place:
        if found is None:
            return None
        if isinstance(step, int):
            found = found.items
        else:
            additional = found.additional_properties
            found = found.properties.get(step) or (additional if isinstance(additional, Schema) else None)
    return found


def put(obj: Object, place: Place, value: Any) -> None:
    """Set the value at a place; make the objects above it. Does nothing if the place is in a list that is too short."""
    target: Any = obj
    for step in place[:-1]:
        if isinstance(target, dict):
            if not isinstance(target.get(step), dict | list):
                target[step] = {}
            target = target[step]
        elif isinstance(target, list) and isinstance(step, int) and step < len(target):
            target = target[step]
        else:
            return
    last = place[-1]
    is_item = isinstance(target, list) and isinstance(last, int) and last < len(target)
    if is_item or isinstance(target, dict):
        target[last] = copy_json(value)


def remove(obj: Object, place: Place) -> None:
    """Remove the value at a place, if it exists."""
    parent = value_at(obj, place[:-1])
    last = place[-1]
    if isinstance(parent, dict):
        parent.pop(last, None)
    elif isinstance(parent, list) and isinstance(last, int) and last < len(parent):
        del parent[last]
