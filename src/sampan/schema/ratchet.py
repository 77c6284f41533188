"""Ratcheting: find the old value that a new one replaces, and compare the two.

Source: apiserver pkg/cel/common/equality.go (1.36).
"""

from typing import Any

from sampan.schema.predicate import map_key
from sampan.schema.structural import UNSET, ListType, Schema


def property_old(shape: Schema, old: Any, key: str) -> tuple[Schema | None, Any]:
    """Return the schema node of a property, and its old value; `UNSET` if it has none."""
    child = shape.properties.get(key)
    if child is None and isinstance(shape.additional_properties, Schema):
        child = shape.additional_properties
    if child is None or type(old) is not dict or key not in old:
        return child, UNSET
    return child, old[key]


def item_old(shape: Schema, new: list[Any], old: Any, index: int) -> tuple[Schema | None, Any]:
    """Return the schema node of a list's item, and its old value; `UNSET` if it has none.

    Only items of map lists have old values, found by their keys.
    """
    if shape.items is None or shape.list_type is not ListType.MAP or type(old) is not list:
        return shape.items, UNSET
    wanted = map_key(new[index], shape.list_map_keys)
    found = next((item for item in old if map_key(item, shape.list_map_keys) == wanted), UNSET)
    return shape.items, found


def same(shape: Schema, new: Any, old: Any) -> bool:
    """Compare two values deeply. Map lists are compared by key; objects with fields unknown to the schema differ."""
    if new is None or old is None:
        return new is old
    if type(new) is not type(old):
        return False
    if type(new) is list:
        return len(new) == len(old) and _same_list(shape, new, old)
    if type(new) is not dict:
        return bool(new == old)
    if len(new) != len(old):
        return False
    for key, item in new.items():
        child, before = property_old(shape, old, key)
        if child is None or before is UNSET or not same(child, item, before):
            return False
    return True


def _same_list(shape: Schema, new: list[Any], old: list[Any]) -> bool:
    if shape.items is None or shape.list_type is not ListType.MAP:
        return identical(new, old)
    for index, item in enumerate(new):
        _, before = item_old(shape, new, old, index)
        if before is UNSET or not same(shape.items, item, before):
            return False
    return True


def identical(new: Any, old: Any) -> bool:
    """Compare two values; 1, 1.0 and true differ."""
    if type(new) is not type(old):
        return False
    if type(new) is dict:
        return new.keys() == old.keys() and all(identical(item, old[key]) for key, item in new.items())
    if type(new) is list:
        return len(new) == len(old) and all(map(identical, new, old))
    return bool(new == old)
