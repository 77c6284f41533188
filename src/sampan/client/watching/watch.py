"""Decoded events of a watch."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

from sampan.client.errors import TransportError
from sampan.client.objects.decoding import decoded
from sampan.client.watching.list_watch import RawEvent
from sampan.client.watching.raw_events import closing, until_error
from sampan.resource import ObjectType

T = TypeVar("T")
EventType = Literal["ADDED", "MODIFIED", "DELETED"]
_TYPES = ("ADDED", "MODIFIED", "DELETED")


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """Change of an object. `object` is the state after it; for DELETED, the last state."""

    type: EventType
    object: T


async def decoded_events(
    batches: AsyncIterator[Sequence[RawEvent]], object_type: ObjectType[T]
) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
    """Yield the batches decoded, without bookmarks. Raises the `ApiError` of an ERROR event, after earlier events.

    Raises `Undecodable`, `TransportError`. Closing the generator closes `batches`.
    """
    async with closing(batches) as raw:
        async for batch in raw:
            good, error = until_error(batch)
            events = list(_decoded(good, object_type))
            if events:
                yield events
            if error is not None:
                raise error


def _decoded(batch: Sequence[RawEvent], object_type: ObjectType[T]) -> Iterator[WatchEvent[T]]:
    for event in batch:
        if event.type in _TYPES:
            yield WatchEvent(cast(EventType, event.type), decoded(object_type, bytes(event.object)))
        elif event.type != "BOOKMARK":
            raise TransportError(f"unknown type {event.type!r} of watch event", sent=True)


async def one_by_one(batches: AsyncGenerator[Sequence[T], None]) -> AsyncGenerator[T, None]:
    """Yield the elements of batches. Closing the generator closes `batches`."""
    async with closing(batches) as every:
        async for batch in every:
            for element in batch:
                yield element
