"""Streaming lists: the initial state as the beginning of a watch.

The server sends an ADDED for each object and then a bookmark with an annotation; the same watch then sends later
changes. A server or proxy without support may refuse, or ignore the option and never send the bookmark.
Source: client-go tools/cache/reflector.go `watchList` (1.36); KEP-3157.
"""

import asyncio
from collections.abc import Sequence
from typing import Generic, TypeVar

from sampan.client.errors import ClientError
from sampan.client.watching.event_stream import EventStream
from sampan.client.watching.list_watch import RawEvent
from sampan.client.watching.raw_events import watch_error
from sampan.informer.ref import Ref
from sampan.informer.reflector.events import Bookmark, EventReader
from sampan.informer.settings import ReflectorSettings

T = TypeVar("T")


class StreamStalled(ClientError):
    """A streaming list does not complete: the server or a proxy does not support it."""


class StreamBroken(ClientError):
    """A streaming list has ended before it was complete."""


class StreamedList(Generic[T]):
    """Collects the initial state from a stream. It is returned only when it is complete."""

    def __init__(self, reader: EventReader[T], settings: ReflectorSettings) -> None:
        self._reader = reader
        self._settings = settings
        self._refs: dict[str, Ref[T]] = {}

    async def read(self, stream: EventStream) -> tuple[list[Ref[T]], str]:
        """Return all objects and their version. The stream continues after them.

        Raises `StreamStalled`, `StreamBroken`, `ApiError`, `TransportError`, `TransformError`.
        """
        loop = asyncio.get_running_loop()
        given_up_at = loop.time() + self._settings.stream_s_max
        stalled_at = loop.time() + self._settings.stream_stall_s
        while True:
            try:
                batch = await stream.next(min(given_up_at, stalled_at))
            except TimeoutError:
                raise StreamStalled("a streaming list did not complete in time") from None
            if batch is None:
                raise StreamBroken("a streaming list ended before it was complete")
            before = len(self._refs)
            end = self._take_in(stream, batch)
            if end is not None:
                return list(self._refs.values()), end.resource_version
            # Only new objects count as progress: a server without support sends bookmarks and changes for hours.
            if len(self._refs) > before:
                stalled_at = loop.time() + self._settings.stream_stall_s

    def _take_in(self, stream: EventStream, batch: Sequence[RawEvent]) -> Bookmark | None:
        for at, event in enumerate(batch, 1):
            if event.type == "ERROR":
                raise watch_error(event)
            if event.type == "BOOKMARK":
                bookmark = self._reader.bookmark(event)
                if bookmark is not None and bookmark.ends_initial_events:
                    # Events after the bookmark belong to the watch that continues on the same stream.
                    stream.push_back(batch[at:])
                    return bookmark
                continue
            ref = self._reader.object(bytes(event.object))
            if ref is None:
                continue
            # A server without support for the option sends changes among the initial objects.
            if event.type == "DELETED":
                self._refs.pop(ref.key, None)
            else:
                self._refs[ref.key] = ref
        return None
