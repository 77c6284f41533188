"""Types of the watch cache: records, pages, events and batches."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal, NamedTuple, overload

import msgspec

from sampan.storage.store import KeyValue, StoreError

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


class Record(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One state of one object: its bytes, and the values that selectors need. Immutable, so it can be shared.

    `value` is the full JSON in the storage version, with `metadata.resourceVersion` filled in. `fields` has the
    selectable fields; those of custom resources have keys by `field_of_version`. Records compare by identity.
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

    Custom resources have selectable fields for each version. The key without a name is present if the fields of this
    version are known.
    """
    return f"{version}:{name}"


Extract = Callable[[KeyValue], Record]
"""Makes a record from a stored row."""

Respliced = Callable[[Record, int], Record]
"""Returns the record at another revision, as a DELETED event needs it."""

Matches = Callable[[Record], bool] | None
"""Selector; None selects everything. Watchers that share one callable share its results."""


class Page(NamedTuple):
    """Records in key order.

    `more`: further records exist. `remaining`: their number, or None with a selector, because they are not counted
    then. Do not change `records`: until the next write, lists of the same scope share one list.
    """

    records: Sequence[Record]
    more: bool
    remaining: int | None
    revision: int


class CacheEvent(msgspec.Struct, eq=False, gc=False):
    """One write to one object, shared by all watchers.

    `record` is the new state; for DELETED, the last state at the revision of the deletion. `previous` is the state
    before (None for a new object). `frames` caches the encoded frames by what the encoder depends on, such as event
    type, media type and version.
    """

    type: EventType
    record: Record
    previous: Record | None
    revision: int
    frames: dict[Hashable, bytes]
    deselected: "CacheEvent | None" = None
    """This write as a DELETED event, for selectors that match `previous` but not `record`. Made on first use."""


Delivery = tuple[EventType, CacheEvent]
"""Event as one watcher receives it. A selector may change the type."""


class InitialEvents(Sequence[Delivery]):
    """ADDED events of existing objects, each made when it is taken: fifty watches of a large list need no memory."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, place: int) -> Delivery: ...

    @overload
    def __getitem__(self, place: slice) -> list[Delivery]: ...

    def __getitem__(self, place: int | slice) -> Delivery | list[Delivery]:
        if isinstance(place, slice):
            return list(map(_added, self._records[place]))
        return _added(self._records[place])

    def __iter__(self) -> Iterator[Delivery]:
        return map(_added, self._records)


def _added(record: Record) -> Delivery:
    return "ADDED", CacheEvent("ADDED", record, None, record.revision, {})


class Batch(NamedTuple):
    """All pending events of a watcher, in order (empty after a timeout), and the revision that it has reached."""

    events: Sequence[Delivery]
    revision: int


class WatchEnded(StoreError):
    """The cache ended a watcher. All delivered events are valid; the client resumes after the last one."""


class WatcherTooSlow(WatchEnded):
    """The buffer of the watcher was full: it did not take its events in time."""


class CacheReset(WatchEnded):
    """The cache lost events of the store and has listed it again, or has stopped."""
