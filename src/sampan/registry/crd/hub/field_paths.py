"""Paths of fields as rules write them: `.spec.network.cidr`. They lead through objects, never into lists or maps."""

import re
from collections.abc import Mapping
from typing import Any

from sampan.schema.structural import UNSET, Schema

FieldPath = tuple[str, ...]
_FORM = re.compile(r"(\.[A-Za-z_$][A-Za-z0-9_$-]*)+")


def parse_path(text: str) -> FieldPath | None:
    """The names of a path; None: it is none."""
    return tuple(text[1:].split(".")) if _FORM.fullmatch(text) else None


def show_path(path: FieldPath) -> str:
    """The text of a path."""
    return "".join(f".{name}" for name in path)


def overlaps(one: FieldPath, other: FieldPath) -> bool:
    """Whether they are the same, or one lies in the other."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def value_at(obj: Any, path: FieldPath) -> Any:
    """The value, or UNSET."""
    for name in path:
        if not isinstance(obj, Mapping) or name not in obj:
            return UNSET
        obj = obj[name]
    return obj


def take(obj: dict[str, Any], path: FieldPath) -> Any:
    """Remove and give the value (or UNSET), and with it the objects that held nothing else."""
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
    """Set the value, with the objects around it. False: something else is in the way."""
    for name in path[:-1]:
        child = obj.setdefault(name, {})
        if not isinstance(child, dict):
            return False
        obj = child
    obj[path[-1]] = value
    return True


def schema_at(schema: Schema, path: FieldPath) -> Schema | None:
    """The schema of the field; None: there is no such field."""
    for name in path:
        child = schema.properties.get(name)
        if child is None:
            return None
        schema = child
    return schema
