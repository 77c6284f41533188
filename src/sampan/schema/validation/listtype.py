"""Sets and map lists: each item, or each combination of keys, may occur once. Built-in types are skipped.

Source: apiextensions-apiserver pkg/apiserver/schema/listtype/validation.go (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, duplicate, invalid
from sampan.schema.structural import ListType, Schema
from sampan.schema.validation.predicate import duplicates


def list_errors(schema: Schema, value: Any, path: Path) -> Iterator[FieldError]:
    """Yield an error for each duplicate in the sets and map lists below a node."""
    if schema.name:
        return
    if type(value) is dict:
        for key, item in value.items():
            child = schema.properties.get(key)
            if child is not None:
                yield from list_errors(child, item, path.child(key))
            if isinstance(schema.additional_properties, Schema):
                yield from list_errors(schema.additional_properties, item, path.key(key))
    elif type(value) is list:
        if schema.list_type is ListType.SET:
            yield from (duplicate(path.index(index), value[index]) for index in duplicates(schema, value))
        elif schema.list_type is ListType.MAP:
            yield from _map_errors(schema, value, path)
        if schema.items is not None:
            for index, item in enumerate(value):
                yield from list_errors(schema.items, item, path.index(index))


def _map_errors(schema: Schema, value: list[Any], path: Path) -> Iterator[FieldError]:
    for index, item in enumerate(value):
        if item is not None and type(item) is not dict:
            yield invalid(path.index(index), item, "must be an object for an array of list-type map")
            return
    for index in duplicates(schema, value):
        item = value[index] or {}
        yield duplicate(path.index(index), {key: item[key] for key in schema.list_map_keys if key in item})
