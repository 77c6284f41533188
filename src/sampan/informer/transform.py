"""Transforms: change objects before they are stored, mostly to make them smaller.

A transform gets the bytes of each received state before any other code. Tombstones and resyncs are not
transformed again. A state that is received twice (a re-list) is transformed twice from the same bytes, so a transform
must be a pure function. If it raises, the list or watch fails. The error is reported to the handler of watch errors,
and a list is requested after a delay.
Source: client-go tools/cache/delta_fifo.go `TransformFunc` (1.36).
"""

from collections.abc import Callable
from typing import TypeVar

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


def transform_objects(object_type: ObjectType[T], function: Callable[[T], T]) -> Transform:
    """Make a transform from a function of decoded objects, which may change its argument."""

    def transform(body: bytes) -> bytes:
        return object_type.encode(function(object_type.decode(body)))

    return transform
