"""`EventReader`: decodes lists and watch events to `Ref`s and versions. Unreadable ones are skipped."""

import logging
from typing import Final, Generic, TypeVar

import msgspec

from sampan.client.watching.list_watch import RawEvent
from sampan.informer.metrics import InformerMetrics
from sampan.informer.ref import Ref, RefReader, UnreadableObject
from sampan.wire.json import UNREADABLE

T = TypeVar("T")

_log = logging.getLogger("sampan.informer")

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
"""Annotation of the bookmark that ends a streaming list."""


class Bookmark(msgspec.Struct, frozen=True):
    """Version that a watch has reached. `ends_initial_events`: the initial state of a streaming list is complete."""

    resource_version: str
    ends_initial_events: bool


class _BookmarkMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None


class _BookmarkObject(msgspec.Struct):
    metadata: _BookmarkMeta


_bookmarks = msgspec.json.Decoder(_BookmarkObject)


class EventReader(Generic[T]):
    """Reads the output of a `ListWatch`. Counts and logs what it skips."""

    def __init__(self, reader: RefReader[T], metrics: InformerMetrics) -> None:
        self._reader = reader
        self._metrics = metrics

    def object(self, body: bytes) -> Ref[T] | None:
        """Return an item of a list or the object of an event; None if it is unreadable. Raises `TransformError`."""
        try:
            return self._reader.read(body)
        except UnreadableObject as error:
            self._skip(str(error), body)
            return None

    def bookmark(self, event: RawEvent) -> Bookmark | None:
        """Return the content of a BOOKMARK; None if it is unreadable."""
        self._metrics.bookmarks += 1
        try:
            metadata = _bookmarks.decode(event.object).metadata
        except UNREADABLE as error:
            self._skip(str(error), bytes(event.object))
            return None
        ends = (metadata.annotations or {}).get(INITIAL_EVENTS_END) == "true"
        return Bookmark(metadata.resource_version, ends)

    def unknown(self, event: RawEvent) -> None:
        """Record an event of an unknown type."""
        self._skip(f"unknown type of event {event.type!r}", bytes(event.object))

    def _skip(self, reason: str, body: bytes) -> None:
        self._metrics.unreadable += 1
        _log.error("skipped an unreadable object: %s: %s", reason, body[:256].decode("utf-8", "replace"))
