"""Errors and versions of raw watch events."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from sampan.client.errors import ApiError, TransportError, api_error
from sampan.client.objects.head import object_head
from sampan.client.watching.list_watch import RawEvent
from sampan.wire.json import UNREADABLE


@asynccontextmanager
async def closing(events: AsyncIterator[Any]) -> AsyncIterator[AsyncIterator[Any]]:
    """Close an iterator of events, and so its connection, at the end of the block."""
    try:
        yield events
    finally:
        aclose = getattr(events, "aclose", None)
        if aclose is not None:
            await aclose()


def until_error(batch: Sequence[RawEvent]) -> tuple[Sequence[RawEvent], ApiError | None]:
    """Return the events before the first ERROR, and its error."""
    for index, event in enumerate(batch):
        if event.type == "ERROR":
            return batch[:index], watch_error(event)
    return batch, None


def watch_error(event: RawEvent) -> ApiError:
    """Return the error of an ERROR event. Its object is a `Status`; any other becomes an internal server error."""
    try:
        status = msgspec.json.decode(event.object)
    except UNREADABLE:
        status = None
    if not isinstance(status, dict) or status.get("kind", "Status") != "Status":
        status = {"message": "the watch ended with an error that is no Status"}
    return api_error(status)


def resource_version_of(event: RawEvent) -> str:
    """Return the resourceVersion of the event's object. Raises `TransportError` if there is none."""
    try:
        version = object_head(event.object).metadata.resource_version
    except UNREADABLE as error:
        raise TransportError(f"cannot decode object of watch event: {error}", sent=True) from None
    if not version:
        raise TransportError("object of watch event has no resourceVersion", sent=True)
    return version
