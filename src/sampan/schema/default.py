"""Defaulting of custom resources: absent fields, and nulls that are not allowed, get their default.

Source: apiextensions-apiserver pkg/apiserver/schema/defaulting/algorithm.go (1.36).
"""

from collections.abc import Callable
from typing import Any

import orjson

from sampan.schema.structural import UNSET, Schema

Defaulter = Callable[[Any], None]


def compile_defaulter(schema: Schema) -> Defaulter | None:
    """The defaulter of a node, which changes a dict or a list in place; None: there is nothing to default below.

    Built-in types have no defaults here: decoding sets theirs.
    """
    if schema.name:
        return None
    if schema.type == "array" or (schema.items is not None and not schema.properties):
        return _list(schema)
    own = [
        (name, _maker(child.default), not child.nullable) for name, child in schema.properties.items() if _has(child)
    ]
    below = {name: made for name, child in schema.properties.items() if (made := compile_defaulter(child)) is not None}
    additional = schema.additional_properties
    other = compile_defaulter(additional) if isinstance(additional, Schema) else None
    nulls = _maker(additional.default) if isinstance(additional, Schema) and _has(additional) else None
    if not own and not below and other is None and nulls is None:
        return None
    return _object(own, below, frozenset(schema.properties), other, nulls)


def _has(schema: Schema) -> bool:
    return schema.default is not UNSET and schema.default is not None


def _maker(value: Any) -> Callable[[], Any]:
    """Gives a fresh copy each time."""
    if isinstance(value, dict | list):
        content = orjson.dumps(value)
        return lambda: orjson.loads(content)
    return lambda: value


def _object(
    own: list[tuple[str, Callable[[], Any], bool]],
    below: dict[str, Defaulter],
    known: frozenset[str],
    other: Defaulter | None,
    nulls: Callable[[], Any] | None,
) -> Defaulter:
    below_items = list(below.items())

    def default_object(value: Any) -> None:
        if type(value) is not dict:
            return
        for key, make, replaces_null in own:
            if key not in value or (replaces_null and value[key] is None):
                value[key] = make()
        for key, default in below_items:
            item = value.get(key)
            if item is not None:
                default(item)
        if other is None and nulls is None:
            return
        for key, item in value.items():
            if key in known:
                continue
            if item is None and nulls is not None:
                value[key] = item = nulls()
            if item is not None and other is not None:
                other(item)

    return default_object


def _list(schema: Schema) -> Defaulter | None:
    child = schema.items
    if child is None:
        return None
    default = compile_defaulter(child)
    nulls = _maker(child.default) if _has(child) and not child.nullable else None
    if default is None and nulls is None:
        return None

    def default_list(value: Any) -> None:
        if type(value) is not list:
            return
        for index, item in enumerate(value):
            if item is None and nulls is not None:
                value[index] = item = nulls()
            if default is not None and item is not None:
                default(item)

    return default_list
