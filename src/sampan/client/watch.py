"""A watch's events with their objects decoded."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

from sampan.client.decoding import decoded
from sampan.client.errors import TransportError
from sampan.client.list_watch import RawEvent
from sampan.client.raw_events import closing, until_error
from sampan.resource import ObjectType

T = TypeVar("T")
EventType = Literal["ADDED", "MODIFIED", "DELETED"]
_TYPES = ("ADDED", "MODIFIED", "DELETED")


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """What happened to an object. `object` is its state after that; of a DELETED one the last."""

    type: EventType
    object: T


async def decoded_events(
    batches: AsyncIterator[Sequence[RawEvent]], object_type: ObjectType[T]
) -> AsyncGenerator[Sequence[WatchEvent[T]], None]:
    """The same batches, decoded, without bookmarks. Raises the `ApiError` of an ERROR event, after those before it.

    Raises `Undecodable`, `TransportError`. Closing it closes `batches`.
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
            raise TransportError(f"a watch has no events of type {event.type!r}", sent=True)


async def one_by_one(batches: AsyncGenerator[Sequence[T], None]) -> AsyncGenerator[T, None]:
    """The elements of batches. Closing it closes `batches`."""
    async with closing(batches) as every:
        async for batch in every:
            for element in batch:
                yield element
