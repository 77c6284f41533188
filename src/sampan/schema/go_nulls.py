"""The nulls that Go writes: what `decode` leaves out of a built-in object and Go's encoder does not.

Go writes every field without `omitempty`. `decode` sets those whose zero is a value, and times; a list, a map or a
pointer that is not there is null. Source: Go's encoding/json; the fields' tags are in `registry/data/fields.json`.
"""

from typing import Any

from sampan.core.object import Object
from sampan.schema.structural import Schema

_RAW = "runtime.RawExtension"
"""A struct: `omitempty` does not leave it out."""


def with_nulls(schema: Schema, obj: Object) -> Object:
    """A copy of a decoded object with those nulls."""
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
    """Whether Go writes null for a field that is not there. `field`: its flags and its type in Go."""
    flags, _, go_type = field.partition(" ")
    if go_type == _RAW and "p" not in flags:
        return True
    if "o" in flags or "z" in flags:
        return False
    return "p" in flags or go_type.startswith(("[]", "map[")) or schema.scalar == "raw"
