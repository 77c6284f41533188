"""Reads. Single rows and short ranges are read on the event loop, in some microseconds a row. A thread reads long
ranges.

Handing a read to a thread costs more than a short read. Under CPython's lock, a thread next to a busy event loop
fetches one row for each switch interval. So a long range is read in chunks with pauses, all from one snapshot.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import TypeVar

from sampan.storage.sqlite.database import SNAPSHOT, open_reader
from sampan.storage.sqlite.database_health import DatabaseHealth
from sampan.storage.store import Compacted, EventBatch, FutureRevision, KeyValue, RangeResult, RowWrite, StoreEvent

_T = TypeVar("_T")
_CHUNK = 500
_HISTORY_REVISIONS = 500
_IDLE_MAX = 4

_CURRENT = """
SELECT c.key, l.value, c.create_revision, c.revision FROM current c CROSS JOIN log l ON l.revision = c.revision
WHERE c.key >= ? AND c.key < ? ORDER BY c.key LIMIT ?
"""
_CURRENT_COUNT = "SELECT count(*) FROM current WHERE key >= ? AND key < ?"
_VERSIONS = """
WITH changed AS MATERIALIZED (
    SELECT key, min(revision), previous FROM log WHERE revision > :at AND key >= :start AND key < :end GROUP BY key
), versions AS (
    SELECT key, revision FROM current WHERE key >= :start AND key < :end AND revision <= :at
    UNION ALL SELECT key, previous FROM changed WHERE previous > 0
)
"""
_PAST = f"""
{_VERSIONS}
SELECT v.key, l.value, l.create_revision, l.revision
FROM (SELECT key, revision FROM versions ORDER BY key LIMIT :limit) v CROSS JOIN log l ON l.revision = v.revision
ORDER BY v.key
"""
_PAST_COUNT = f"{_VERSIONS} SELECT count(*) FROM versions"
_HISTORY = """
SELECT l.revision, l.key, l.value, p.value, p.create_revision, p.revision
FROM log l LEFT JOIN log p ON p.revision = l.previous
WHERE l.revision > ? AND l.revision <= ? AND l.key >= ? AND l.key < ? ORDER BY l.revision
"""
_WRITE = "SELECT key, value, create_revision, revision, previous FROM log WHERE revision = ?"
_LINK = "SELECT revision, key, create_revision, previous, value IS NULL FROM log WHERE revision = ?"
_CHANGES = """
SELECT c.revision, c.deleted, s.key, s.value, s.create_revision, s.revision
FROM (
    SELECT revision, value IS NULL AS deleted, CASE WHEN value IS NULL THEN previous ELSE revision END AS state
    FROM log WHERE revision > :after AND revision < :before AND key >= :start AND key < :end {only}
    ORDER BY revision DESC LIMIT :limit
) c CROSS JOIN log s ON s.revision = c.state ORDER BY c.revision DESC
"""
_ALL_CHANGES, _DELETIONS = _CHANGES.format(only=""), _CHANGES.format(only="AND value IS NULL")
_SUPERSEDED_BYTES = """
SELECT coalesce(sum(length(p.value)), 0) FROM log l CROSS JOIN log p ON p.revision = l.previous
WHERE l.revision > max(?, (SELECT compacted FROM state)) AND l.revision <= ?
"""
_REVISION_MAX = (1 << 63) - 1


class Reader:
    """Connections for reads: one for single rows and history, and a few for ranges, each with its own snapshot."""

    def __init__(self, path: str, health: DatabaseHealth) -> None:
        self._path = path
        self._health = health
        self._point = open_reader(path)
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    def close(self) -> None:
        """Close the connections, after the range reads in progress. Idempotent."""
        self._closed = True
        self._point.close()
        while self._idle:
            self._idle.pop().close()

    def row(self, revision: int) -> KeyValue:
        """Return the row that a revision wrote. It must exist."""
        with self._explained():
            rows = self._point.execute(
                "SELECT key, value, create_revision, revision FROM log WHERE revision = ?", (revision,)
            ).fetchall()
        if not rows:
            raise self._health.missing(f"the row of revision {revision}")
        return KeyValue(*rows[0])

    def history(self, start: str, end: str, after: int, until: int) -> EventBatch:
        """Return the first events of the range between two revisions. The caller checks for compaction."""
        reached = min(until, after + _HISTORY_REVISIONS)
        with self._explained():
            rows = self._point.execute(_HISTORY, (after, reached, start, end)).fetchall()
        events = [
            StoreEvent(revision, key, value, None if was is None else KeyValue(key, was, created, modified))
            for revision, key, value, was, created, modified in rows
        ]
        return EventBatch(events, reached)

    async def writes(self, key: str, newest: int, before: int, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key from its `newest` one back, by the revision of each row's previous one.

        They are read on the event loop, unless the walk to the first one may be long.
        """
        with self._explained():
            first = _known_start(self._point, key, newest, before)
            if first:
                return _writes_from(self._point, first, before, limit)
        return await self._in_snapshot(lambda connection: _writes_from(connection, newest, before, limit))

    async def deletions(self, start: str, end: str, before: int, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first. No index has them, so a thread scans the log."""
        return await self._scanned(_DELETIONS, start, end, before, limit)

    async def changes(self, start: str, end: str, before: int, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first. A thread scans the log from its end."""
        return await self._scanned(_ALL_CHANGES, start, end, before, limit)

    async def _scanned(self, query: str, start: str, end: str, before: int, limit: int) -> Sequence[RowWrite]:
        bounds = {"start": start, "end": end, "before": before or _REVISION_MAX, "limit": limit}

        def read(connection: sqlite3.Connection) -> Sequence[RowWrite]:
            after = connection.execute(SNAPSHOT).fetchone()[1]
            rows = connection.execute(query, {**bounds, "after": after}).fetchall()
            return [RowWrite(at, KeyValue(*row), deleted=bool(deleted)) for at, deleted, *row in rows]

        return await self._in_snapshot(read)

    async def superseded_bytes(self, after: int, until: int) -> int:
        """Return the size of the values that the writes of (after, until] superseded."""

        def read(connection: sqlite3.Connection) -> int:
            size: int = connection.execute(_SUPERSEDED_BYTES, (after, until)).fetchone()[0]
            return size

        return await self._in_snapshot(read)

    async def _in_snapshot(self, read: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run in a thread, on a snapshot of the database."""
        with self._explained():
            connection = self._idle.pop() if self._idle else open_reader(self._path)
            try:
                connection.execute("BEGIN")
                return await _in_thread(lambda: read(connection))
            finally:
                self._give_back(connection)

    async def range(self, start: str, end: str, limit: int, revision: int, count: bool) -> RangeResult:
        """Return rows in key order."""
        with self._explained():
            return await self._range(start, end, limit, revision, count)

    async def _range(self, start: str, end: str, limit: int, revision: int, count: bool) -> RangeResult:
        connection = self._idle.pop() if self._idle else open_reader(self._path)
        try:
            connection.execute("BEGIN")
            current, compacted, _ = connection.execute(SNAPSHOT).fetchone()
            if revision > current:
                raise FutureRevision(revision, current)
            if revision and revision < compacted:
                raise Compacted(compacted, current)
            if revision in (0, current):
                return await _current(connection, start, end, limit, current, count)
            return await _in_thread(lambda: _past(connection, start, end, limit, revision, count))
        finally:
            self._give_back(connection)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._health.explain(error) from error

    def _give_back(self, connection: sqlite3.Connection) -> None:
        connection.rollback()
        if self._closed or len(self._idle) >= _IDLE_MAX:
            connection.close()
        else:
            self._idle.append(connection)


def _known_start(connection: sqlite3.Connection, key: str, newest: int, before: int) -> int:
    """Return the revision from which a short walk reaches the writes below `before`; 0 if it is not known."""
    if not before or before > newest:
        return newest
    _, _, created, previous, deleted = connection.execute(_LINK, (newest,)).fetchone()
    if deleted:
        row = connection.execute(_LINK, (previous,)).fetchone()
        created = 0 if row is None else row[2]
    found = connection.execute(_LINK, (before,)).fetchone()
    same_life = found is not None and found[1] == key and (before == newest or found[2] == created)
    return before if same_life else 0


def _writes_from(connection: sqlite3.Connection, newest: int, before: int, limit: int) -> Sequence[RowWrite]:
    compacted = connection.execute(SNAPSHOT).fetchone()[1]
    revision = newest
    while before and revision >= before:  # their values are not read
        link = connection.execute(_LINK, (revision,)).fetchone()
        if link is None or revision <= compacted:
            return []
        revision = link[3]
    return list(islice(_walk(connection, revision, compacted), limit))


def _walk(connection: sqlite3.Connection, newest: int, compacted: int) -> Iterator[RowWrite]:
    revision, deleted_at = newest, 0
    while revision and (row := connection.execute(_WRITE, (revision,)).fetchone()) is not None:
        key, value, created, _, previous = row
        if value is None:
            deleted_at = revision if revision > compacted else 0
        else:
            state = KeyValue(key, value, created, revision)
            if deleted_at:
                yield RowWrite(deleted_at, state, deleted=True)
            deleted_at = 0
            yield RowWrite(revision, state, deleted=False)
            if revision <= compacted:  # the rows before it are being deleted
                return
        revision = previous


async def _current(
    connection: sqlite3.Connection, start: str, end: str, limit: int, revision: int, count: bool
) -> RangeResult:
    items: list[KeyValue] = []
    with closing(connection.execute(_CURRENT, (start, end, limit + 1 if limit else -1))) as cursor:
        while rows := cursor.fetchmany(_CHUNK):
            items += map(KeyValue._make, rows)
            if len(rows) < _CHUNK:
                break
            await asyncio.sleep(0)
    total = -1
    if count:
        total = connection.execute(_CURRENT_COUNT, (start, end)).fetchone()[0] if _exceeds(items, limit) else len(items)
    return _page(items, limit, revision, total)


def _past(connection: sqlite3.Connection, start: str, end: str, limit: int, revision: int, count: bool) -> RangeResult:
    bounds = {"start": start, "end": end, "at": revision, "limit": limit + 1 if limit else -1}
    items = [KeyValue(*row) for row in connection.execute(_PAST, bounds).fetchall()]
    total = -1
    if count:
        total = connection.execute(_PAST_COUNT, bounds).fetchone()[0] if _exceeds(items, limit) else len(items)
    return _page(items, limit, revision, total)


def _exceeds(items: list[KeyValue], limit: int) -> bool:
    return bool(limit) and len(items) > limit


def _page(items: list[KeyValue], limit: int, revision: int, total: int) -> RangeResult:
    more = _exceeds(items, limit)
    return RangeResult(items[:limit] if more else items, revision, more, total)


async def _in_thread(read: Callable[[], _T]) -> _T:
    """Run in a thread, to the end even if the caller is cancelled: the connection is in use until then."""
    future = asyncio.get_running_loop().run_in_executor(None, read)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise
