"""Add the nulls that Go's encoder writes and that `decode` omits from built-in objects.

Go writes every field without `omitempty`. `decode` sets fields with a non-null zero value, and times; an absent list,
map or pointer is null in Go.
Source: Go's encoding/json; the fields' tags are in `registry/data/fields.json`.
"""

from typing import Any

from sampan.core.object import Object
from sampan.schema.structural import Schema

_RAW = "runtime.RawExtension"
"""Struct type; `omitempty` does not omit structs."""


def with_nulls(schema: Schema, obj: Object) -> Object:
    """Return a copy of a decoded object with the nulls that Go's encoder writes."""
    result: Object = {}
    for name, value in obj.items():
        child = schema.properties.get(name)
        result[name] = value if child is None else _below(child, value)
    for name, child in schema.properties.items():
        if name not in result and _is_written(schema.fields.get(name, "o "), child):
            result[name] = None
    return result


def _below(schema: Schema, value: Any) -> Any:
    if isinstance(value, dict):
        if schema.properties:
            return with_nulls(schema, value)
        child = schema.additional_properties
        return {key: _below(child, item) for key, item in value.items()} if isinstance(child, Schema) else value
    if isinstance(value, list) and schema.items is not None:
        items = schema.items
        return [_below(items, item) for item in value]
    return value


def _is_written(field: str, schema: Schema) -> bool:
    """Report whether Go writes null for an absent field. `field` contains its flags and its type in Go."""
    flags, _, go_type = field.partition(" ")
    if go_type == _RAW and "p" not in flags:
        return True
    if "o" in flags or "z" in flags:
        return False
    return "p" in flags or go_type.startswith(("[]", "map[")) or schema.scalar == "raw"
