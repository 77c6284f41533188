"""`MemoryStore`: a store in dicts, for tests and for servers without durable data.

Every method finishes at once on the event loop. The history is a list of events. A read at an older revision undoes the
later events.
"""

from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from operator import attrgetter

from sortedcontainers import SortedDict

from sampan.core.clock import unix_time
from sampan.storage.broadcaster import BUFFER_MAX, WatchBroadcaster
from sampan.storage.expiry import Expiry
from sampan.storage.history.row_writes import changes_in, deletions_in, writes_in
from sampan.storage.store import (
    Compacted,
    Conflict,
    EventBatch,
    FutureRevision,
    KeyExists,
    KeyValue,
    RangeResult,
    Revision,
    RowWrite,
    StoreEvent,
)

FIRST_REVISION = 1
"""Revision of an empty store. It is not 0, which means "any" to clients."""
_HISTORY_CHUNK = 1000
_by_revision = attrgetter("revision")


class MemoryStore:
    """Store in memory; see `Store`.

    `clock` returns seconds since the epoch and determines expiry, which is checked every `expiry_interval_s`.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = unix_time,
        expiry_interval_s: float = 1.0,
        watch_buffer_max: int = BUFFER_MAX,
    ) -> None:
        self._clock = clock
        self._expiry_interval_s = expiry_interval_s
        self._rows: SortedDict[str, KeyValue] = SortedDict()
        self._log: list[StoreEvent] = []
        self._revision = FIRST_REVISION
        self._compacted = 0
        self._size_bytes = 0
        self._expiry = Expiry(clock, expiry_interval_s)
        self._broadcaster = WatchBroadcaster(self._history, buffer_max=watch_buffer_max)
        self._broadcaster.revision = self._revision

    def fork(self) -> "MemoryStore":
        """Return an independent store with the same rows, history and revision. It is not open."""
        other = MemoryStore(clock=self._clock, expiry_interval_s=self._expiry_interval_s)
        other._rows = self._rows.copy()
        other._log = self._log.copy()
        other._revision = other._broadcaster.revision = self._revision
        other._compacted, other._size_bytes = self._compacted, self._size_bytes
        other._expiry.copy_from(self._expiry)
        return other

    @classmethod
    def holding(cls, rows: Iterable[tuple[str, bytes]]) -> "MemoryStore":
        """Return a store with these keys and values. It is not open."""
        store = cls()
        for key, value in rows:
            store._write(key, value, None, 0)
        return store

    async def open(self) -> None:
        """Prepare the store for use. A closed store can be opened again and keeps its data."""
        self._broadcaster.closed = False
        self._expiry.start(self.expire)

    async def close(self) -> None:
        """Finish pending writes and release files."""
        self._expiry.stop()
        self._broadcaster.close()

    async def revision(self) -> Revision:
        """Return the newest revision (linearizable)."""
        return Revision(self._revision)

    async def ready(self) -> None:
        """Wait until all earlier requests have completed. Returns at once."""

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""
        row: KeyValue | None = self._rows.get(key)
        return row

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order."""
        if revision > self._revision:
            raise FutureRevision(revision, self._revision)
        if revision and revision < self._compacted:
            raise Compacted(self._compacted, self._revision)
        rows: SortedDict[str, KeyValue] = self._rows
        if revision and revision < self._revision:
            rows = self._rows_at(revision, start, end)
        keys = list(rows.irange(start, end, inclusive=(True, False)))
        page = keys[:limit] if limit else keys
        return RangeResult(
            [rows[key] for key in page],
            revision or self._revision,
            len(page) < len(keys),
            len(keys) if count else -1,
        )

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Write a key that must not exist."""
        if key in self._rows:
            raise KeyExists(key)
        return self._write(key, value, None, ttl_s)

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`."""
        return self._write(key, value, self._expected(key, expected), ttl_s)

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`."""
        return self._write(key, None, self._expected(key, expected), 0)

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Yield all events of the range with revision > `after`."""
        return self._broadcaster.watch(start, end, after)

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key, newest first."""
        events = (event for event in reversed(self._log) if event.key == key)
        return writes_in(events, self._rows.get(key), before=before, limit=limit)

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first."""
        return deletions_in(self._newest_first(start, end, before), before=before, limit=limit)

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first."""
        return changes_in(self._newest_first(start, end, before), before=before, limit=limit)

    def _newest_first(self, start: str, end: str, before: int) -> Iterator[StoreEvent]:
        last = bisect_left(self._log, before, key=_by_revision) if before else len(self._log)
        return (event for event in map(self._log.__getitem__, range(last - 1, -1, -1)) if start <= event.key < end)

    async def superseded_bytes(self, after: int, until: int) -> int | None:
        """Return the size of the values that the writes of (after, until] superseded."""
        return sum(len(event.previous.value) for event in self._span(after, until) if event.previous is not None)

    async def compact(self, revision: int) -> None:
        """Drop the history up to `revision`; current rows stay."""
        if revision > self._revision:
            raise FutureRevision(revision, self._revision)
        if revision <= self._compacted:
            raise Compacted(self._compacted, self._revision)
        self._compacted = revision
        del self._log[: bisect_right(self._log, revision, key=_by_revision)]

    @property
    def compacted(self) -> int:
        """Newest compacted revision that this store has observed, compacted by any server; 0: none."""
        return self._compacted

    async def size_bytes(self) -> int:
        """Return the size of the current values, without history."""
        return self._size_bytes

    def expire(self) -> None:
        """Delete a bounded number of due rows. The timer calls this, and so do tests after moving their clock."""
        for key, revision in self._expiry.take():
            row = self._rows.get(key)
            if row is not None and row.mod_revision == revision:
                self._write(key, None, row, 0)

    def _expected(self, key: str, expected: int) -> KeyValue:
        row: KeyValue | None = self._rows.get(key)
        if row is None or row.mod_revision != expected:
            raise Conflict(key, row)
        return row

    def _write(self, key: str, value: bytes | None, previous: KeyValue | None, ttl_s: int) -> Revision:
        self._revision = revision = self._revision + 1
        if previous is not None:
            self._size_bytes -= len(previous.value)
        if value is None:
            del self._rows[key]
        else:
            created = revision if previous is None else previous.create_revision
            self._rows[key] = KeyValue(key, value, created, revision)
            self._size_bytes += len(value)
            if ttl_s > 0:
                self._expiry.add(self._expiry.due_at(ttl_s), key, revision)
        event = StoreEvent(revision, key, value, previous)
        self._log.append(event)
        self._broadcaster.dispatch((event,), revision)
        return Revision(revision)

    def _rows_at(self, revision: int, start: str, end: str) -> "SortedDict[str, KeyValue]":
        rows = SortedDict({key: self._rows[key] for key in self._rows.irange(start, end, inclusive=(True, False))})
        for event in self._undo(revision):
            if not start <= event.key < end:
                continue
            if event.previous is None:
                del rows[event.key]
            else:
                rows[event.key] = event.previous
        return rows

    def _undo(self, revision: int) -> Iterable[StoreEvent]:
        return reversed(self._log[bisect_right(self._log, revision, key=_by_revision) :])

    def _span(self, after: int, until: int) -> Sequence[StoreEvent]:
        first = bisect_right(self._log, after, key=_by_revision)
        return self._log[first : bisect_right(self._log, until, key=_by_revision)]

    def _history(self, start: str, end: str, after: int, until: int) -> EventBatch:
        if after < self._compacted:
            raise Compacted(self._compacted, self._revision)
        first = bisect_right(self._log, after, key=_by_revision)
        chunk = self._log[first : first + _HISTORY_CHUNK]
        # A full chunk may end before `until`. The caller then reads on from the last revision in it.
        reached = until if len(chunk) < _HISTORY_CHUNK else min(until, chunk[-1].revision)
        return EventBatch([e for e in chunk if e.revision <= reached and start <= e.key < end], reached)
