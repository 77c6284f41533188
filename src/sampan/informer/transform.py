"""Transforms: changing objects before they are stored, mostly to make them smaller.

A transform gets the bytes of an object before anything else sees it, once for each state that the server sends;
tombstones and resyncs do not pass it again. Should the same state come twice (a re-list), it is transformed twice from
the same bytes, so it must not depend on how often it is called. When it raises, the list or watch fails, the error
is told as one of the watch, and a list is tried again after a while.
Source: client-go tools/cache/delta_fifo.go `TransformFunc` (1.36).
"""

from collections.abc import Callable
from typing import TypeVar

from sampan.resource.object_type import ObjectType

T = TypeVar("T")

Transform = Callable[[bytes], bytes]
"""JSON of an object in, JSON of an object out; name and namespace stay."""


class TransformError(Exception):
    """A transform has failed; the cause says how."""


def transformed(transform: Transform, body: bytes) -> bytes:
    """Apply a transform. Raises `TransformError` for whatever it raises."""
    try:
        return transform(body)
    except Exception as error:
        raise TransformError(f"the transform failed: {error!r}") from error


def transform_objects(object_type: ObjectType[T], function: Callable[[T], T]) -> Transform:
    """A transform that is written for decoded objects; the function may change the one that it gets."""

    def transform(body: bytes) -> bytes:
        return object_type.encode(function(object_type.decode(body)))

    return transform
