"""Objects out of bodies: what cannot be read is told by name, and can be let through."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from sampan.client.errors import Undecodable
from sampan.client.object_head import HeadMeta, object_head
from sampan.resource import ObjectType

T = TypeVar("T")

SLICE_SIZE: Final = 256 * 1024
"""Bytes that are decoded at a time before other tasks have their turn: about 5 ms."""


def decoded(object_type: ObjectType[T], body: bytes) -> T:
    """The object. Raises `Undecodable`."""
    try:
        return object_type.decode(body)
    except ValueError as error:
        raise Undecodable(f"{_what(object_type, body)} cannot be read: {error}", body) from error


async def decoded_all(object_type: ObjectType[T], bodies: Sequence[bytes]) -> list[T]:
    """The objects, decoded in slices so that a long list does not hold the loop up. Raises `Undecodable`."""
    found: list[T] = []
    size = 0
    for body in bodies:
        found.append(decoded(object_type, body))
        size += len(body)
        if size >= SLICE_SIZE:
            size = 0
            await asyncio.sleep(0)
    return found


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
        except ValueError as error:
            return Undecoded(_head(body), body, str(error))

    def encode(obj: T | Undecoded) -> bytes:
        if isinstance(obj, Undecoded):
            raise ValueError(f"what could not be read cannot be written: {obj.metadata.name}")
        return object_type.encode(obj)

    return ObjectType(object_type.info, decode, encode)


def _what(object_type: ObjectType[T], body: bytes) -> str:
    metadata = _head(body)
    name = f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name
    return f"{object_type.info.gvr.group_resource} {name!r}"


def _head(body: bytes) -> HeadMeta:
    try:
        return object_head(body).metadata
    except ValueError:
        return HeadMeta()
