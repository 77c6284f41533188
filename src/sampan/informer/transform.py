"""Transforms: change objects before they are stored, mostly to make them smaller.

A transform gets the bytes of each received state before any other code. Tombstones and resyncs are not
transformed again. A state that is received twice (a re-list) is transformed twice from the same bytes, so a transform
must be a pure function. If it raises, the list or watch fails. The error is reported to the handler of watch errors,
and a list is requested after a delay.
Source: client-go tools/cache/delta_fifo.go `TransformFunc` (1.36).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec

from sampan.resource.object_type import ObjectType

T = TypeVar("T")

Transform = Callable[[bytes], bytes]
"""Takes and returns the JSON of an object. Must not change name and namespace."""


class TransformError(Exception):
    """A transform raised an exception, which is the cause of this one."""


def transformed(transform: Transform, body: bytes) -> bytes:
    """Apply a transform. Raises `TransformError` for any exception."""
    try:
        return transform(body)
    except Exception as error:
        raise TransformError(f"the transform failed: {error!r}") from error


_PROTECTED: Final = frozenset({"name", "namespace", "uid", "resourceVersion"})
_Tree = dict[str, "_Tree | None"]
"""Fields to remove; None removes the field, a tree removes fields below it."""


def strip_fields(*paths: str | Sequence[str]) -> Transform:
    """Return a transform that removes fields: `strip_fields("status", "spec.template.spec.containers.env")`.

    A path with a dot in a name is a sequence of names: `("metadata", "annotations", "example.com/notes")`. A path
    continues in each item of a list. Raises `ValueError` for an empty path, and for the identity of an object.
    """
    tree: _Tree = {}
    for path in paths:
        names = path.split(".") if isinstance(path, str) else list(path)
        if not names or not all(names):
            raise ValueError(f"invalid path {path!r}")
        if names in (["apiVersion"], ["kind"], ["metadata"]) or (names[0] == "metadata" and names[1] in _PROTECTED):
            raise ValueError(f"{'.'.join(names)} cannot be removed: it identifies the object")
        _add_path(tree, names)
    return partial(_without, tree)


def _add_path(tree: _Tree, names: Sequence[str]) -> None:
    for name in names[:-1]:
        below = tree.setdefault(name, {})
        if below is None:
            return  # A shorter path removes the whole field.
        tree = below
    tree[names[-1]] = None


_fields: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encoder: Final = msgspec.json.Encoder()
_items: Final = msgspec.json.Decoder(list[msgspec.Raw])


def _without(tree: _Tree, body: bytes) -> bytes:
    """Return JSON without the fields. All other bytes are as they were, so that numbers keep their form."""
    start = body.lstrip()[:1]
    if start == b"[":
        return _encoded([msgspec.Raw(_without(tree, bytes(item))) for item in _items.decode(body)])
    if start != b"{":
        return body
    fields = _fields.decode(body)
    for name, below in tree.items():
        if name not in fields:
            continue
        if below is None:
            del fields[name]
        else:
            fields[name] = msgspec.Raw(_without(below, bytes(fields[name])))
    return _encoded(fields)


def _encoded(value: object) -> bytes:
    buffer = bytearray()
    _encoder.encode_into(value, buffer)
    # `encode` returns a block that was larger. Its rest would be lost to fragmentation: a quarter of a cache.
    return bytes(buffer)


def transform_objects(object_type: ObjectType[T], function: Callable[[T], T]) -> Transform:
    """Make a transform from a function of decoded objects, which may change its argument."""

    def transform(body: bytes) -> bytes:
        return object_type.encode(function(object_type.decode(body)))

    return transform
