"""Ratcheting: find the old value that a new one replaces, and compare the two.

Source: apiserver pkg/cel/common/equality.go (1.36).
"""

from typing import Any

from sampan.schema.structural import UNSET, ListType, Schema
from sampan.schema.validation.predicate import map_key
from sampan.schema.work import spend


def property_old(shape: Schema, old: Any, key: str) -> tuple[Schema | None, Any]:
    """Return the schema node of a property, and its old value; `UNSET` if it has none."""
    child = shape.properties.get(key)
    if child is None and isinstance(shape.additional_properties, Schema):
        child = shape.additional_properties
    if child is None or type(old) is not dict or key not in old:
        return child, UNSET
    return child, old[key]


def items_old(shape: Schema, old: Any) -> dict[object, Any]:
    """Return the items of an old map list by their keys; nothing for other lists, whose items have no old values."""
    if shape.items is None or shape.list_type is not ListType.MAP or type(old) is not list:
        return {}
    spend(len(old))
    return {map_key(item, shape.list_map_keys): item for item in reversed(old)}


def item_old(shape: Schema, item: Any, old: dict[object, Any]) -> Any:
    """Return the old value of a list's item; `UNSET` if it has none. `old`: the result of `items_old`."""
    return old.get(map_key(item, shape.list_map_keys), UNSET) if old else UNSET


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
    spend(len(new))
    for key, item in new.items():
        child, before = property_old(shape, old, key)
        if child is None or before is UNSET or not same(child, item, before):
            return False
    return True


def _same_list(shape: Schema, new: list[Any], old: list[Any]) -> bool:
    if shape.items is None or shape.list_type is not ListType.MAP:
        return identical(new, old)
    olds = items_old(shape, old)
    for item in new:
        before = item_old(shape, item, olds)
        if before is UNSET or not same(shape.items, item, before):
            return False
    return True


def identical(new: Any, old: Any) -> bool:
    """Compare two values; 1, 1.0 and true differ."""
    if type(new) is not type(old):
        return False
    if type(new) is dict:
        spend(len(new))
        return new.keys() == old.keys() and all(identical(item, old[key]) for key, item in new.items())
    if type(new) is list:
        spend(len(new))
        return len(new) == len(old) and all(map(identical, new, old))
    return bool(new == old)
