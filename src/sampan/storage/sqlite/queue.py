"""`WriteQueue`: group commit. The event loop checks writes in order; the writer thread only writes those that passed.

Concurrency: everything here runs on the event loop. `_index` is the committed state (key → revision, create revision),
`_pending` the state after the writes in progress. At most one group is being committed; writes that arrive meanwhile
form the next group. A write may fail because of a pending one. Its error is delayed until the pending write is
committed, so no caller sees state that is not durable.

If a commit fails, its group fails with `StoreUnavailable`, and all queued writes are checked again. The revisions of
the failed group are skipped. On a full disk only steps of deletions are accepted: the writer releases the reserve for
them, and retries those of the failed group once.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial

from sampan.storage.broadcaster import WatchBroadcaster
from sampan.storage.sqlite.recent import RecentRows
from sampan.storage.sqlite.writer import Row, Writer, commit
from sampan.storage.store import (
    Conflict,
    KeyExists,
    KeyValue,
    Revision,
    StoreError,
    StoreEvent,
    StoreFull,
    StoreUnavailable,
)

_GROUP_MAX = 256
_GROUP_BYTES_MAX = 4 << 20
_NOT_PENDING = KeyValue("", b"", 0, 0)

IndexEntry = tuple[int, int]
"""Mod revision and create revision of an existing key."""


class _Write:
    """One write: the request (`expected` 0: a create) and the result of its check.

    `frees`: it is a step of a deletion that has not been tried on a full disk yet.
    """

    __slots__ = ("event", "expected", "expires_at", "frees", "future", "key", "refusal", "value")

    def __init__(
        self,
        key: str,
        value: bytes | None,
        expected: int,
        expires_at: float,
        future: asyncio.Future[Revision],
        *,
        frees: bool,
    ) -> None:
        self.key = key
        self.value = value
        self.expected = expected
        self.expires_at = expires_at
        self.future = future
        self.frees = frees
        self.event: StoreEvent | None = None
        self.refusal: StoreError | None = None

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class WriteQueue:
    """Queue of writes. `expires(due, key, revision)` is called for each committed row that expires."""

    def __init__(
        self,
        writer: Writer,
        broadcaster: WatchBroadcaster,
        recent: RecentRows,
        index: dict[str, IndexEntry],
        expires: Callable[[float, str, int], None],
    ) -> None:
        self._writer = writer
        self._broadcaster = broadcaster
        self._recent = recent
        self._index = index
        self._expires = expires
        self._loop = asyncio.get_running_loop()
        self._last_revision = broadcaster.revision
        self._pending: dict[str, KeyValue | None] = {}
        self._queue: list[_Write] = []
        self._group_bytes_max = _GROUP_BYTES_MAX
        self._closed = False
        self._busy = False
        self._idle = asyncio.Event()
        self._idle.set()

    def create(self, key: str, value: bytes, expires_at: float) -> asyncio.Future[Revision]:
        """Queue a create. Raises `KeyExists`, at once or through the future."""
        return self._submit(key, value, 0, expires_at, frees=False)

    def replace(
        self, key: str, value: bytes | None, expected: int, expires_at: float, *, frees: bool
    ) -> asyncio.Future[Revision]:
        """Queue an update, or a delete if the value is None. Raises `Conflict`, at once or through the future.

        `frees`: see `Store.update`.
        """
        # 0 means a create in `_Write`. No stored row has a negative revision, so this one conflicts, as it must.
        if expected <= 0:
            expected = -1
        return self._submit(key, value, expected, expires_at, frees=frees)

    def get(self, key: str) -> KeyValue | None:
        """Return the committed row, or None."""
        entry = self._index.get(key)
        return None if entry is None else self._recent.row(key, entry[0])

    def revision_of(self, key: str) -> int:
        """Return the mod revision of the committed row; 0: there is none."""
        entry = self._index.get(key)
        return 0 if entry is None else entry[0]

    async def close(self) -> None:
        """Accept no more writes, and wait until all queued ones have completed."""
        self._closed = True
        await self._idle.wait()

    def _submit(
        self, key: str, value: bytes | None, expected: int, expires_at: float, *, frees: bool
    ) -> asyncio.Future[Revision]:
        if self._closed:
            raise RuntimeError("the store is closed")
        if not key.isascii():
            key.encode()  # raises for text that SQLite cannot store, before it fails a whole group
        future: asyncio.Future[Revision] = self._loop.create_future()
        write = _Write(key, value, expected, expires_at, future, frees=frees)
        self._judge(write)
        self._queue.append(write)
        if not self._busy:
            self._busy = True
            self._idle.clear()
            # Not at once: other requests of this loop iteration join the same commit.
            self._loop.call_soon(self._next_group)
        return future

    def _judge(self, write: _Write) -> None:
        """Check a write against the state after all writes before it.

        Raises if it is certain to be refused.
        """
        key = write.key
        previous = self._pending.get(key, _NOT_PENDING)
        # Only committed state is certain. A refusal by a pending write waits until that write is durable.
        certain = previous is _NOT_PENDING
        if certain:
            previous = self.get(key)
        at = 0 if previous is None else previous.mod_revision
        if at != write.expected:
            refusal = KeyExists(key) if write.expected == 0 else Conflict(key, previous)
            if certain:
                raise refusal
            write.refusal = refusal
            return
        self._last_revision = revision = self._last_revision + 1
        row = None
        if write.value is not None:
            row = KeyValue(key, write.value, revision if previous is None else previous.create_revision, revision)
        self._pending[key] = row
        write.event = StoreEvent(revision, key, write.value, previous)

    def _next_group(self) -> None:
        group = self._take_group()
        if not group:
            self._busy = False
            self._group_bytes_max = _GROUP_BYTES_MAX
            self._idle.set()
            return
        rows = list(_rows(group))
        if rows:
            self._writer.submit(commit(rows), partial(self._committed, group))
        else:
            self._committed(group, None, None)

    def _take_group(self) -> list[_Write]:
        size = 0
        for at, write in enumerate(self._queue):
            size += len(write.value or b"")
            # `at and`: a single write above the size limit still forms a group.
            if at and (at == _GROUP_MAX or size > self._group_bytes_max):
                group = self._queue[:at]
                del self._queue[:at]
                return group
        group, self._queue = self._queue, []
        return group

    def _committed(self, group: list[_Write], result: object, error: Exception | None) -> None:
        if error is not None:
            self._failed(group, error)
        else:
            events = [write.event for write in group if write.event is not None]
            if events:
                for write in group:
                    self._apply(write)
                # Before the futures are set: a client that reads after its response must find its own write.
                self._broadcaster.dispatch(events, events[-1].revision)
            for write in group:
                if write.event is None:
                    assert write.refusal is not None
                    write.fail(write.refusal)
                elif not write.future.done():
                    write.future.set_result(Revision(write.event.revision))
        self._next_group()

    def _apply(self, write: _Write) -> None:
        event = write.event
        if event is None:
            return
        key, revision = event.key, event.revision
        if event.value is None:
            del self._index[key]
            self._recent.forget(key)
            if self._pending.get(key, _NOT_PENDING) is None:
                del self._pending[key]
            return
        created = revision if event.previous is None else event.previous.create_revision
        self._index[key] = (revision, created)
        pending = self._pending.get(key)
        # A later write to the key may be pending already; then its row must stay.
        if pending is not None and pending.mod_revision == revision:
            del self._pending[key]
            self._recent.keep(pending)
        if write.expires_at:
            self._expires(write.expires_at, key, revision)

    def _failed(self, group: list[_Write], cause: Exception) -> None:
        error = _unavailable(cause)
        # Later writes were checked against state that will never exist, so all of them are checked again.
        self._pending.clear()
        failed = [write for write in group if write.event is not None]
        again = [write for write in group if write.event is None] + self._queue
        self._queue = []
        if isinstance(error, StoreFull):
            again = [write for write in failed if write.frees] + again
            failed = [write for write in failed if not write.frees]
            failed += [write for write in again if not write.frees]
            again = [write for write in again if write.frees]
            self._group_bytes_max = 0  # one value in each commit: there may be room for one, but not for all
            # One retry only: with `frees` still set, a disk that stays full would loop for ever.
            for write in again:
                write.frees = False
        for write in failed:
            write.fail(error)
        for write in again:
            write.event = write.refusal = None
            try:
                self._judge(write)
            except StoreError as refusal:
                write.fail(refusal)
            else:
                self._queue.append(write)


def _unavailable(cause: Exception) -> StoreUnavailable:
    """Return the error for the writes of a commit that failed."""
    if isinstance(cause, StoreUnavailable):
        return cause
    error = StoreUnavailable(str(cause))
    error.__cause__ = cause
    return error


def _rows(group: list[_Write]) -> Iterable[Row]:
    for write in group:
        event = write.event
        if event is None:
            continue
        previous = event.previous
        created = 0
        if event.value is not None:
            created = event.revision if previous is None else previous.create_revision
        was = 0 if previous is None else previous.mod_revision
        yield event.revision, event.key, created, was, write.expires_at, event.value
