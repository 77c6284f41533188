"""Defaulting of custom resources: set the defaults of absent fields, and of nulls that are not allowed.

Source: apiextensions-apiserver pkg/apiserver/schema/defaulting/algorithm.go (1.36).
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import orjson

from sampan.core.errors import request_entity_too_large
from sampan.schema.structural import UNSET, Schema

Defaulter = Callable[[Any], None]
DEFAULTS_BYTES_MAX = 4 << 20
"""Maximum number of JSON bytes that defaults may add to one object. With more, the object would be too large to store.

Without this limit, a list of empty items in a request, and large defaults for them in the CRD, would expand to
gigabytes.
"""
_left: ContextVar[list[int] | None] = ContextVar("bytes left for defaults", default=None)


def bounded_defaulter(schema: Schema) -> Defaulter | None:
    """Return the defaulter of a root. It raises 413 if it would add more than `DEFAULTS_BYTES_MAX`."""
    fill = compile_defaulter(schema)
    if fill is None:
        return None

    def default(value: Any) -> None:
        token = _left.set([DEFAULTS_BYTES_MAX])
        try:
            fill(value)
        finally:
            _left.reset(token)

    return default


def _spend(size_bytes: int) -> None:
    left = _left.get()
    if left is None:
        return
    left[0] -= size_bytes
    if left[0] < 0:
        raise request_entity_too_large(f"the defaults of the object have more than {DEFAULTS_BYTES_MAX} bytes")


def compile_defaulter(schema: Schema) -> Defaulter | None:
    """Return the defaulter of a node, which changes a dict or a list in place; None if neither the node nor a node
    below it has a default.

    Built-in types have no defaults here: their decoders set them.
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
    """Return a function that returns a new copy of the value each time."""
    content = orjson.dumps(value)
    size, is_shared = len(content), not isinstance(value, dict | list)

    def make() -> Any:
        _spend(size)
        return value if is_shared else orjson.loads(content)

    return make


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
