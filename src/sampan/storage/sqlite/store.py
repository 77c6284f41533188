"""`SQLiteStore`: the Store on one SQLite file."""

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial

from sampan.core.clock import unix_time
from sampan.storage.broadcaster import BUFFER_MAX, WatchBroadcaster
from sampan.storage.expiry import Expiry
from sampan.storage.sqlite import compaction
from sampan.storage.sqlite.damage import check_log, damaged, is_damage
from sampan.storage.sqlite.database import SNAPSHOT, is_present, lock, open_writer, remove, size_bytes
from sampan.storage.sqlite.database_health import DatabaseHealth
from sampan.storage.sqlite.queue import IndexEntry, WriteQueue
from sampan.storage.sqlite.reader import Reader
from sampan.storage.sqlite.recent import RecentRows
from sampan.storage.sqlite.space import DiskSpace
from sampan.storage.sqlite.writer import Writer
from sampan.storage.store import (
    Compacted,
    EventBatch,
    FutureRevision,
    KeyValue,
    RangeResult,
    Revision,
    RowWrite,
    StoreError,
    StoreFull,
)

_STOP_INTERVAL_S = 0.05


class SQLiteStore:
    """Store on one SQLite file. Durable: WAL with `synchronous=FULL`, group commit.

    `size_bytes_max` limits the database (0: no limit). Above it writes fail with `StoreFull`, until something is
    deleted and compacted. `clock` returns seconds since the epoch and determines expiry, which is checked every
    `expiry_interval_s`.

    On a full disk reads and deletions continue, and other writes fail with `StoreFull` until there is space again.
    After damage is detected, all writes fail with `StoreDamaged`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        size_bytes_max: int = 0,
        clock: Callable[[], float] = unix_time,
        expiry_interval_s: float = 1.0,
        watch_buffer_max: int = BUFFER_MAX,
        space: DiskSpace | None = None,
    ) -> None:
        self._path = os.fspath(path)
        self._health = DatabaseHealth(self._path, bounded=size_bytes_max > 0, space=space)
        self._size_bytes_max = size_bytes_max
        self._expiry = Expiry(clock, expiry_interval_s)
        self._broadcaster = WatchBroadcaster(self._history, buffer_max=watch_buffer_max)
        self._compacted = 0
        self._compacting = asyncio.Lock()
        self._lock: int | None = None
        self._writer: Writer
        self._reader: Reader
        self._queue: WriteQueue
        self._scrubbing: asyncio.Future[None]

    async def open(self) -> None:
        """Prepare the store for use.

        Raises `BlockingIOError` if another store uses the file, `StoreDamaged`, `StoreFull` for a new store on a full
        disk, `OSError`, `sqlite3.Error`. A new store that fails to open is removed.
        """
        assert self._lock is None, "the store is open"
        new = not is_present(self._path)
        self._lock = lock(self._path)
        try:
            connection, index = await asyncio.to_thread(self._load, new)
        except BaseException:
            self._unlock()
            if new:
                remove(self._path)
            raise
        self._reader = Reader(self._path, self._health)
        self._writer = Writer(connection, self._health.explain)
        self._queue = WriteQueue(self._writer, self._broadcaster, RecentRows(self._reader.row), index, self._expiry.add)
        self._expiry.start(self.expire)
        self._scrubbing = asyncio.get_running_loop().run_in_executor(None, self._health.scrub)

    async def close(self) -> None:
        """Finish pending writes and release files."""
        if self._lock is None:
            return
        # First, so that no new writes arrive while the queue is emptied.
        self._expiry.stop()
        await self._queue.close()
        self._broadcaster.close()
        self._reader.close()
        while not self._scrubbing.done():
            # Repeated, because `stop` has no effect before the task has opened its connection.
            self._health.stop()
            await asyncio.wait([self._scrubbing], timeout=_STOP_INTERVAL_S)
        await self._writer.close()
        self._health.end()
        self._unlock()

    async def revision(self) -> Revision:
        """Return the newest revision (linearizable). Read from memory."""
        return Revision(self._broadcaster.revision)

    async def ready(self) -> None:
        """Wait until all earlier requests have completed.

        Does not read the database, but waits for the earlier writes.

        Raises `StoreFull`, `StoreDamaged`.
        """
        await self._look()

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""
        return self._queue.get(key)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order."""
        return await self._reader.range(start, end, limit, revision, count)

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Write a key that must not exist."""
        if self._health.fault is not None:
            await self._look()
        return await self._queue.create(key, value, self._expiry.due_at(ttl_s))

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`."""
        if self._health.fault is not None and not (frees and self._health.full):
            await self._look()
        expires_at = self._expiry.due_at(ttl_s)
        if frees:
            return await self._free(key, value, expected, expires_at)
        return await self._queue.replace(key, value, expected, expires_at, frees=False)

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`."""
        if self._health.fault is not None and not self._health.full:
            await self._look()
        return await self._free(key, None, expected, 0)

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Yield all events of the range with revision > `after`."""
        return self._broadcaster.watch(start, end, after)

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key, newest first."""
        newest = self._queue.revision_of(key)
        if newest == 0:
            removed = await self._reader.deletions(key, key + "\0", 0, 1)
            newest = removed[0].revision if removed else 0
        return await self._reader.writes(key, newest, before, limit) if newest else []

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first."""
        return await self._reader.deletions(start, end, before, limit)

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first."""
        return await self._reader.changes(start, end, before, limit)

    async def superseded_bytes(self, after: int, until: int) -> int | None:
        """Return the size of the values that the writes of (after, until] superseded."""
        return await self._reader.superseded_bytes(after, until)

    async def compact(self, revision: int) -> None:
        """Drop the history up to `revision`; current rows stay.

        Returns when the rows are deleted. Writers run between its small steps.
        """
        async with self._compacting:
            if revision > self._broadcaster.revision:
                raise FutureRevision(revision, self._broadcaster.revision)
            if revision <= self._compacted:
                raise Compacted(self._compacted, self._broadcaster.revision)
            # The mark is durable before the first row is deleted: after a crash no reader may see a half-deleted
            # history.
            swept = await self._writer.run(partial(compaction.mark, revision=revision))
            self._compacted = revision
            while swept < revision:
                full = self._health.full
                step = compaction.SWEEP_REVISIONS_FULL if full else compaction.SWEEP_REVISIONS
                until = min(swept + step, revision)
                await self._writer.run(partial(compaction.sweep, after=swept, until=until))
                swept = until
            while await self._writer.run(partial(compaction.vacuum, pages_left_full=self._health.free_pages_min)):
                pass

    @property
    def compacted(self) -> int:
        """Newest compacted revision that this store has observed, compacted by any server; 0: none."""
        return self._compacted

    async def size_bytes(self) -> int:
        """Return the size of the store, for metrics."""
        return size_bytes(self._path)

    def expire(self) -> None:
        """Delete a bounded number of due rows. The timer calls this, and so do tests after moving their clock."""
        for key, revision in self._expiry.take():
            with suppress(StoreError):
                removal = self._queue.replace(key, None, revision, 0, frees=True)
                removal.add_done_callback(partial(self._expired, key, revision))

    def _expired(self, key: str, revision: int, future: asyncio.Future[Revision]) -> None:
        # An unexpected error, for example of the disk. The row must not become permanent.
        if not future.cancelled() and not isinstance(future.exception(), StoreError | None):
            self._expiry.add(0, key, revision)

    async def _free(self, key: str, value: bytes | None, expected: int, expires_at: float) -> Revision:
        """Write a step of a deletion. If even the reserve has no room for it, compact the history and try again."""
        try:
            return await self._queue.replace(key, value, expected, expires_at, frees=True)
        except StoreFull:
            with suppress(StoreFull):  # it has made some room, if not all
                await self._compact_all()
            return await self._queue.replace(key, value, expected, expires_at, frees=True)

    async def _compact_all(self) -> None:
        """Compact the whole history, unless another task has just done it."""
        with suppress(Compacted):
            await self.compact(self._broadcaster.revision)

    async def _look(self) -> None:
        """Return freed space to the disk, then raise the reason for refusing writes if it persists."""
        try:
            await self._writer.run(self._health.look)
        except StoreFull:
            if self._compacting.locked() or self._compacted >= self._broadcaster.revision:
                raise
            await self._compact_all()
            await self._writer.run(self._health.look)

    def _load(self, new: bool) -> tuple[sqlite3.Connection, dict[str, IndexEntry]]:
        """Open the database and read the index. Raises `StoreDamaged`, `StoreFull`, `OSError`, `sqlite3.Error`."""
        try:
            check_log(self._path)
            try:
                connection, index = self._read_index()
            except sqlite3.OperationalError:
                if new:
                    raise
                # SQLite needs some space to open the database, and on a full disk only the reserve provides it.
                self._health.use_reserve()
                connection, index = self._read_index()
        except sqlite3.Error as error:
            raise damaged(self._path, error) if is_damage(error) else self._health.explain(error) from error
        try:
            self._health.begin(connection, new=new)
        except BaseException:
            connection.close()
            raise
        return connection, index

    def _read_index(self) -> tuple[sqlite3.Connection, dict[str, IndexEntry]]:
        connection = open_writer(self._path, self._size_bytes_max)
        try:
            self._broadcaster.revision, self._compacted, _ = connection.execute(SNAPSHOT).fetchone()
            rows = connection.execute("SELECT key, revision, create_revision FROM current")
            index = {key: (revision, created) for key, revision, created in rows}
            expiring = "SELECT expires_at, key, revision FROM current WHERE expires_at > 0"
            for due, key, revision in connection.execute(expiring):
                self._expiry.add(due, key, revision)
        except BaseException:
            connection.close()
            raise
        return connection, index

    def _history(self, start: str, end: str, after: int, until: int) -> EventBatch:
        if after < self._compacted:
            raise Compacted(self._compacted, self._broadcaster.revision)
        return self._reader.history(start, end, after, until)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
