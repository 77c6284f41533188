"""Prune custom resources: drop unknown fields and nulls that the schema does not allow, and decode the metadata.

Also gives numbers the form that Go writes: 2.0 is 2, at every node.

Source: apiextensions-apiserver pkg/apiserver/schema/{pruning,objectmeta,defaulting}/ (1.36).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from sampan.core.field import FieldError, Path, invalid
from sampan.core.json.values import whole_number, with_whole_numbers
from sampan.core.numbers.integers import INT64_MAX, INT64_MIN
from sampan.schema.decoding.decode import Decoder, Lost
from sampan.schema.decoding.decode_error import DecodeError
from sampan.schema.structural import UNSET, Schema

Pruner = Callable[[Any, Lost], None]
"""Function that changes a dict or a list in place.

Raises `DecodeError` when the metadata of an embedded resource has a wrong type.
"""

_META = frozenset(("apiVersion", "kind", "metadata"))


def compile_pruner(schema: Schema, object_meta: Decoder) -> Pruner:
    """Return the pruner of a root schema; `object_meta` decodes the metadata of the object and of embedded ones."""
    return _embedded(schema, object_meta, root=True)


def compile_value_pruner(schema: Schema, object_meta: Decoder) -> Pruner | None:
    """Return the pruner of any node; None if no value of the node can require pruning."""
    if schema.name:
        return None
    if schema.embedded_resource:
        return _embedded(schema, object_meta, root=False)
    return _node(schema, object_meta)


def _node(schema: Schema, object_meta: Decoder) -> Pruner | None:
    if schema.type in ("string", "integer", "number", "boolean") or schema.int_or_string:
        return None if schema.preserve_unknown_fields else _clear
    known, droppable = _children(schema, object_meta)
    if schema.type == "array":
        return _list(schema, object_meta)
    other = _other(schema, object_meta)
    if other.kept and other.prune is None and not any(known.values()) and not droppable and not other.drops_null:
        return None if schema.items is None else _list(schema, object_meta)
    items = _list(schema, object_meta) if schema.items is not None else _unknown_list(schema)
    return _object(known, droppable, other, items)


def _children(schema: Schema, object_meta: Decoder) -> tuple[dict[str, Pruner | None], frozenset[str]]:
    """Return the pruner of each property, and the properties whose nulls are dropped."""
    known = {name: compile_value_pruner(child, object_meta) for name, child in schema.properties.items()}
    droppable = frozenset(name for name, child in schema.properties.items() if _drops_null(child))
    return known, droppable


def _drops_null(schema: Schema) -> bool:
    """Report whether nulls are dropped. Nulls are kept if they are allowed, or if a default will replace them."""
    return not schema.nullable and (schema.default is UNSET or schema.default is None)


class _Other(NamedTuple):
    """Treatment of an object's properties that the schema does not define."""

    kept: bool
    prune: Pruner | None
    drops_null: bool


def _other(schema: Schema, object_meta: Decoder) -> _Other:
    additional = schema.additional_properties
    if isinstance(additional, Schema):
        return _Other(True, compile_value_pruner(additional, object_meta), _drops_null(additional))
    kept = schema.preserve_unknown_fields or additional is not None
    if schema.preserve_unknown_fields:
        return _Other(kept, _whole, False)
    return _Other(kept, None if additional is None else _clear, False)


def _unknown_list(schema: Schema) -> Pruner | None:
    """Return the pruner of a list at a node that may be of any type."""
    return _whole if schema.preserve_unknown_fields and not schema.type else None


def _object(
    known: dict[str, Pruner | None],
    droppable: frozenset[str],
    other: _Other,
    items: Pruner | None,
) -> Pruner:
    keeps_unknown, prune_other, drops_other = other

    def prune_object(value: Any, lost: Lost) -> None:
        if type(value) is not dict:
            if items is not None and type(value) is list:
                items(value, lost)
            return
        drop: list[str] = []
        for key, item in value.items():
            if key in known:
                if item.__class__ is str:
                    continue
                prune = known[key]
                if item is None and key in droppable:
                    drop.append(key)
            elif keeps_unknown:
                prune = prune_other
                if item is None and drops_other:
                    drop.append(key)
            else:
                lost.append((value, key))
                drop.append(key)
                continue
            if prune is not None and (type(item) is dict or type(item) is list):
                prune(item, lost)
            elif item.__class__ is float or (item.__class__ is int and not INT64_MIN <= item <= INT64_MAX):
                value[key] = whole_number(item)
        for key in drop:
            del value[key]

    return prune_object


def _list(schema: Schema, object_meta: Decoder) -> Pruner | None:
    if schema.items is not None and schema.items.type in ("integer", "number"):
        return _whole_items
    prune = compile_value_pruner(schema.items, object_meta) if schema.items is not None else _clear
    if prune is None:
        return None

    def prune_list(value: Any, lost: Lost) -> None:
        if type(value) is list:
            for index, item in enumerate(value):
                if type(item) is dict or type(item) is list:
                    prune(item, lost)
                elif type(item) is float or type(item) is int:
                    value[index] = whole_number(item)
        elif not schema.preserve_unknown_fields:
            _clear(value, lost)

    return prune_list


def _whole(value: Any, lost: Lost) -> None:
    """Keep a value without a schema, with its numbers as Go writes them."""
    with_whole_numbers(value)


def _whole_items(value: Any, lost: Lost) -> None:
    """Write whole numbers without a fraction, as Go does: typed clients cannot decode 3.0 as an integer."""
    if type(value) is list:
        for index, item in enumerate(value):
            if type(item) is float or type(item) is int:
                value[index] = whole_number(item)
            elif type(item) is dict or type(item) is list:
                _clear(item, lost)
    else:
        _clear(value, lost)


def _clear(value: Any, lost: Lost) -> None:
    """Remove all fields of an object without a schema; in a list, of each item."""
    if type(value) is dict:
        lost.extend((value, key) for key in value)
        value.clear()
    elif type(value) is list:
        for item in value:
            _clear(item, lost)


def _embedded(schema: Schema, object_meta: Decoder, *, root: bool) -> Pruner:
    """Return the pruner of an object with its own apiVersion, kind and metadata, which the schema may omit."""
    known, droppable = _children(schema, object_meta)
    known.update(dict.fromkeys(_META))
    prune_rest = _object(known, droppable - _META, _other(schema, object_meta), None)

    def prune_embedded(value: Any, lost: Lost) -> None:
        if type(value) is not dict:
            return
        if not root:
            for key in ("apiVersion", "kind"):
                if key in value and type(value[key]) is not str:
                    raise _bad_meta(invalid(Path(key), value[key], "must be a string"))
        if "metadata" in value:
            metadata = value["metadata"]
            if metadata is None:
                value["metadata"] = metadata = {}
            try:
                object_meta(metadata, lost)
            except DecodeError as error:
                raise error if root else _bad_meta(invalid(Path("metadata"), metadata, str(error))) from None
        prune_rest(value, lost)

    return prune_embedded


def _bad_meta(error: FieldError) -> DecodeError:
    return DecodeError("", "", str(error))
