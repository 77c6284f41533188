"""Prune the defaults of a CRD's schema, as if they were fields of a custom resource.

A CRD may declare any field in the default of an embedded resource's metadata. Objects get only those of ObjectMeta.
Source: apiextensions-apiserver pkg/apiserver/schema/defaulting/{prune,surroundingobject}.go (1.36).
"""

from typing import Any

import orjson

from sampan.schema.decoding.decode import Decoder
from sampan.schema.decoding.decode_error import DecodeError
from sampan.schema.prune import Pruner, compile_pruner
from sampan.schema.structural import UNSET, Schema

_Place = tuple[str | None, ...]
"""Names of the properties from the root to a node; None is an item of a list."""


def prune_defaults(root: Schema, object_meta: Decoder) -> None:
    """Prune all defaults below a root schema, in place. A default that nothing remains of is removed."""
    _visit(root, (), compile_pruner(root, object_meta))


def _visit(node: Schema, place: _Place, prune: Pruner) -> None:
    if node.name:
        return
    if place and node.default is not UNSET and node.default is not None:
        node.default = _pruned(node.default, place, prune)
    if isinstance(node.additional_properties, Schema):
        _visit(node.additional_properties, (*place, "*"), prune)
    if node.items is not None:
        _visit(node.items, (*place, None), prune)
    for name, child in node.properties.items():
        _visit(child, (*place, name), prune)


def _pruned(default: Any, place: _Place, prune: Pruner) -> Any:
    obj: Any = orjson.loads(orjson.dumps(default))
    for name in reversed(place):
        obj = [obj] if name is None else {name: obj}
    try:
        prune(obj, [])
    except DecodeError:
        return default
    for name in place:
        if not obj or (name is not None and name not in obj):
            return UNSET
        obj = obj[0 if name is None else name]
    return obj
