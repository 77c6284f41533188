"""What the watch cache holds and hands out: records, pages of them, events, batches of events."""

from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple

import msgspec

from sampan.storage.store import KeyValue, StoreError

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


class Record(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One state of one object: its bytes, and beside them what selection needs. Never changed, so it is shared freely.

    `value` is the full JSON in the storage version with `metadata.resourceVersion` filled in; `fields` are the
    selectable fields; those of custom resources have keys by `field_of_version`. Two records are equal when they are
    the same one.
    """

    key: str
    namespace: str
    name: str
    value: bytes
    revision: int
    create_revision: int
    labels: dict[str, str]
    fields: dict[str, str]
    uid: str


def field_of_version(version: str, name: str = "") -> str:
    """Return the key of a selectable field of one version in `Record.fields`.

    Custom resources have selectable fields for each version. The key without a name is present if they are known.
    """
    return f"{version}:{name}"


Extract = Callable[[KeyValue], Record]
"""Makes a record of a stored row."""

Respliced = Callable[[Record, int], Record]
"""The record under another revision (what a DELETED event carries)."""

Matches = Callable[[Record], bool] | None
"""A selector; None selects everything. Watchers that share one callable share its verdicts."""


class Page(NamedTuple):
    """Records in key order. `more`: further ones exist; `remaining`: how many (None: not counted, because of a
    selector).

    `records` must not be changed: while nothing is written, lists of the same scope are the same list.
    """

    records: Sequence[Record]
    more: bool
    remaining: int | None
    revision: int


class CacheEvent(msgspec.Struct, eq=False, gc=False):
    """One write to one object, shared by all watchers.

    `record` is the new state, for DELETED the last one under the deletion's revision; `previous` is the state before
    (None for an object that is new). `frames` keeps the encoded frames, by whatever the encoder depends on (event type,
    media type, version ...).
    """

    type: EventType
    record: Record
    previous: Record | None
    revision: int
    frames: dict[Hashable, bytes]
    departure: "CacheEvent | None" = None
    """The same write, as it looks where `previous` was selected and `record` is not: a DELETED.

    Made when first needed.
    """


Delivery = tuple[EventType, CacheEvent]
"""An event as one watcher sees it: with a selector the type may differ from the event's own."""


class Batch(NamedTuple):
    """All that is pending for a watcher, in order (empty after a timeout), and how far the watcher is with it."""

    events: list[Delivery]
    revision: int


class WatchEnded(StoreError):
    """The cache ended a watcher. What it delivered until then is good; the client resumes after the last event."""


class WatcherTooSlow(WatchEnded):
    """The watcher did not take its events in time: its buffer was full."""


class CacheReset(WatchEnded):
    """The cache lost the thread of the store's events and has listed anew, or has stopped."""
