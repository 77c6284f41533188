"""`TranslatedStore`: a store shared with programs that use another encoding."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from typing import Any

from sampan.storage.compactor import SharedStore
from sampan.storage.store import (
    Conflict,
    EventBatch,
    KeyValue,
    RangeResult,
    Revision,
    RowWrite,
    Store,
    Untransformable,
)
from sampan.storage.translation.forms import Upgrade, as_it_is, canonical, is_canonical
from sampan.storage.translation.watch import presented, presented_row, translated_watch
from sampan.storage.unreadable import fault_of

_KEPT = 1024
"""Number of values cached in both encodings. The row before an event is usually the row of an earlier event."""

_CHUNK = 100
"""Number of rows that are converted without a pause. Decoding a value of kube-apiserver takes up to a millisecond."""

Stored = Callable[[bytes], bytes]
"""Returns the encoding in which to store a value."""


class Translation:
    """Conversion of values to our encoding."""

    def __init__(self, stored: Stored | None = None, upgrade: Upgrade = as_it_is) -> None:
        """`stored` None: values are stored in our encoding."""
        self.stored: Stored = stored or _as_it_is
        self._upgrade = upgrade

    def present(self, value: bytes) -> bytes:
        """Return a stored value in our encoding."""
        return canonical(value, self._upgrade)


class TranslatedStore:
    """Store that passes every call to `store`. Reads return our encoding; writes use that of `translation`.

    Unreadable values are `UnreadableValue` in `range` and `watch`.
    """

    def __init__(self, store: Store, translation: Translation) -> None:
        self._store = store
        self._stored = translation.stored
        self._once = translation.present
        self._present = lru_cache(_KEPT)(translation.present)

    async def open(self) -> None:
        """Prepare the store for use."""
        await self._store.open()

    async def close(self) -> None:
        """Finish pending writes and release files."""
        await self._store.close()

    def revision(self) -> Coroutine[Any, Any, Revision]:
        """Return the newest revision (linearizable)."""
        return self._store.revision()

    async def ready(self) -> None:
        """Wait until all earlier requests have completed."""
        await self._store.ready()

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None. Raises `Untransformable`."""
        return self._readable(await self._store.get(key))

    def _readable(self, row: KeyValue | None) -> KeyValue | None:
        found = presented_row(row, self._present)
        if found is not None and (fault := fault_of(found)):
            raise Untransformable(fault)
        return found

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order."""
        found = await self._store.range(start, end, limit=limit, revision=revision, count=count)
        if all(is_canonical(row.value) for row in found.items):
            return found
        return found._replace(items=await self._all(list(found.items)))

    async def _all(self, rows: list[KeyValue]) -> Sequence[KeyValue]:
        """Return the rows in our encoding, with pauses. Reuses `rows`, so that memory does not hold both encodings of
        all.
        """
        for start in range(0, len(rows), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            rows[chunk] = [row._replace(value=presented(row.key, row.value, self._once)) for row in rows[chunk]]
            await asyncio.sleep(0)
        return rows

    def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Coroutine[Any, Any, Revision]:
        """Write a key that must not exist."""
        return self._store.create(key, self._stored(value), ttl_s=ttl_s)

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`."""
        try:
            return await self._store.update(key, self._stored(value), expected, ttl_s=ttl_s, frees=frees)
        except Conflict as error:
            raise Conflict(error.key, self._readable(error.current)) from error

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`."""
        try:
            return await self._store.delete(key, expected)
        except Conflict as error:
            raise Conflict(error.key, self._readable(error.current)) from error

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Yield all events of the range with revision > `after`."""
        return translated_watch(self._store.watch(start, end, after), self._present)

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key, newest first."""
        return await self._presented(await self._store.writes_of(key, before=before, limit=limit))

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first."""
        return await self._presented(await self._store.deletions(start, end, before=before, limit=limit))

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first."""
        return await self._presented(await self._store.changes(start, end, before=before, limit=limit))

    async def superseded_bytes(self, after: int, until: int) -> int | None:
        """Return the size of the values that the writes of (after, until] superseded."""
        return await self._store.superseded_bytes(after, until)

    async def _presented(self, writes: Sequence[RowWrite]) -> Sequence[RowWrite]:
        rows = await self._all([write.row for write in writes])
        return [write._replace(row=row) for write, row in zip(writes, rows, strict=True)]

    async def compact(self, revision: int) -> None:
        """Drop the history up to `revision`; current rows stay."""
        await self._store.compact(revision)

    @property
    def compacted(self) -> int:
        """Newest compacted revision that this store has observed, compacted by any server; 0: none."""
        return self._store.compacted

    async def size_bytes(self) -> int:
        """Return the size of the store, for metrics."""
        return await self._store.size_bytes()


class _SharedTranslatedStore(TranslatedStore):
    """`TranslatedStore` for a store that several servers write to."""

    def __init__(self, store: Store, shared: SharedStore, translation: Translation) -> None:
        super().__init__(store, translation)
        self._shared = shared

    async def claim_compaction(self, revision: int) -> bool:
        """Return True if this server must compact to `revision` in this interval."""
        return await self._shared.claim_compaction(revision)


def translated(store: Store, translation: Translation | None = None) -> Store:
    """Return the store with values in our encoding. It keeps the capabilities of `store`."""
    translation = translation or Translation()
    if isinstance(store, SharedStore):
        return _SharedTranslatedStore(store, store, translation)
    return TranslatedStore(store, translation)


def _as_it_is(value: bytes) -> bytes:
    return value
