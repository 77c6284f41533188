"""Objects out of bodies: what cannot be read is told by name, and can be let through."""

import asyncio
import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from sampan.client.errors import Undecodable
from sampan.client.object_head import HeadMeta, object_head
from sampan.resource import ObjectType
from sampan.wire.json import UNREADABLE

T = TypeVar("T")

SLICE_SIZE: Final = 256 * 1024
"""Bytes that are decoded at a time before other tasks have their turn: 5 to 10 ms."""


def decoded(object_type: ObjectType[T], body: bytes) -> T:
    """The object. Raises `Undecodable`."""
    try:
        return object_type.decode(body)
    except UNREADABLE as error:
        raise Undecodable(f"{_what(object_type, body)} cannot be read: {error}", body) from error


async def decoded_all(object_type: ObjectType[T], bodies: Sequence[bytes]) -> list[T]:
    """The objects, decoded in slices so that a long list does not hold the loop up. Raises `Undecodable`."""
    found: list[T] = []
    for part in _slices(bodies):
        found += _decoded_slice(object_type, part)
        await asyncio.sleep(0)
    return found


def _slices(bodies: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    begin = size = 0
    for end, body in enumerate(bodies, 1):
        size += len(body)
        if size >= SLICE_SIZE:
            yield bodies[begin:end]
            begin, size = end, 0
    if begin < len(bodies):
        yield bodies[begin:]


def _decoded_slice(object_type: ObjectType[T], bodies: Sequence[bytes]) -> list[T]:
    """The cycle collector rests meanwhile: it would look for garbage among nothing but new objects.

    10,000 pods as dicts take half of the time so (3.5 s instead of 7.5 s).
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        return [decoded(object_type, body) for body in bodies]
    finally:
        if collecting:
            gc.enable()


@dataclass(frozen=True, slots=True)
class Undecoded:
    """An object that its type cannot take: what it is called, its JSON and why."""

    metadata: HeadMeta
    body: bytes
    error: str


def guarded(object_type: ObjectType[T]) -> ObjectType[T | Undecoded]:
    """The same type, but one bad object does not fail a list or end a watch: it comes as `Undecoded`.

    Raises (in `encode`) `ValueError` for an `Undecoded`: it cannot be written.
    """

    def decode(body: bytes) -> T | Undecoded:
        try:
            return object_type.decode(body)
        except UNREADABLE as error:
            return Undecoded(_head(body), body, str(error))

    def written(obj: T | Undecoded) -> T:
        if isinstance(obj, Undecoded):
            raise ValueError(f"what could not be read cannot be written: {obj.metadata.name}")
        return obj

    return ObjectType(
        object_type.info,
        decode,
        lambda obj: object_type.encode(written(obj)),
        lambda obj: object_type.encode_update(written(obj)),
    )


def _what(object_type: ObjectType[T], body: bytes) -> str:
    metadata = _head(body)
    name = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
    return f"{object_type.info.gvr.group_resource} {name!r}"


def _head(body: bytes) -> HeadMeta:
    try:
        return object_head(body).metadata
    except UNREADABLE:
        return HeadMeta()
