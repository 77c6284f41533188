"""Validate built-in kinds that have no specific validation: required fields must be present.

Decoding has checked the types, and the published schemas restrict nothing else. Required strings must not be empty;
required lists and maps may be (Go does not distinguish null from empty).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, required
from sampan.schema.structural import Schema

_MAY_BE_EMPTY = frozenset(("message",))
"""Required fields that may be empty: `Condition.message` is often empty."""


def required_errors(schema: Schema, value: Any, path: Path) -> Iterator[FieldError]:
    """Yield an error for each missing field below a node."""
    if type(value) is dict:
        names = schema.validations.required if schema.validations is not None else ()
        for name in names:
            if name not in _MAY_BE_EMPTY and _is_missing(schema.properties[name], value.get(name)):
                yield required(path.child(name))
        for key, item in value.items():
            child = schema.properties.get(key)
            if child is not None:
                if child.type in ("object", "array"):
                    yield from required_errors(child, item, path.child(key))
            elif isinstance(schema.additional_properties, Schema):
                yield from required_errors(schema.additional_properties, item, path.key(key))
    elif type(value) is list and schema.items is not None and schema.items.type == "object":
        for index, item in enumerate(value):
            yield from required_errors(schema.items, item, path.index(index))


def _is_missing(schema: Schema, value: Any) -> bool:
    if schema.type == "string":
        return value is None or value == ""
    return value is None and schema.type != "array" and schema.additional_properties is None
