"""`MeasuredStore`: measures the duration and the failures of a store's operations."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from time import perf_counter

from sampan.storage.store import Conflict, EventBatch, KeyExists, KeyValue, RangeResult, Revision, RowWrite, Store

Observe = Callable[[str, float], None]
"""Receives the operation (get, list, create, update, delete) and its duration in seconds, failures included."""


class MeasuredStore:
    """Store that passes every call to `store` and reports to `observe`, on the event loop.

    If the store fails, `failed` is called with the operation. A conflict with another writer is not a failure.
    """

    def __init__(self, store: Store, observe: Observe, failed: Callable[[str], None] = lambda _: None) -> None:
        self._store = store
        self._observe = observe
        self._failed = failed

    async def open(self) -> None:
        """Prepare the store for use."""
        await self._store.open()

    async def close(self) -> None:
        """Finish pending writes and release files."""
        await self._store.close()

    async def revision(self) -> Revision:
        """Return the newest revision (linearizable). Not measured: engines in this process have it in memory."""
        return await self._store.revision()

    async def ready(self) -> None:
        """Wait until all earlier requests have completed."""
        await self._store.ready()

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""
        began = perf_counter()
        try:
            return await self._store.get(key)
        except BaseException as error:
            self._note("get", error)
            raise
        finally:
            self._observe("get", perf_counter() - began)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order."""
        began = perf_counter()
        try:
            return await self._store.range(start, end, limit=limit, revision=revision, count=count)
        except BaseException as error:
            self._note("list", error)
            raise
        finally:
            self._observe("list", perf_counter() - began)

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Write a key that must not exist."""
        began = perf_counter()
        try:
            return await self._store.create(key, value, ttl_s=ttl_s)
        except BaseException as error:
            self._note("create", error)
            raise
        finally:
            self._observe("create", perf_counter() - began)

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`."""
        began = perf_counter()
        try:
            return await self._store.update(key, value, expected, ttl_s=ttl_s, frees=frees)
        except BaseException as error:
            self._note("update", error)
            raise
        finally:
            self._observe("update", perf_counter() - began)

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`."""
        began = perf_counter()
        try:
            return await self._store.delete(key, expected)
        except BaseException as error:
            self._note("delete", error)
            raise
        finally:
            self._observe("delete", perf_counter() - began)

    def _note(self, operation: str, error: BaseException) -> None:
        if not isinstance(error, KeyExists | Conflict):
            self._failed(operation)

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Yield all events of the range with revision > `after`."""
        return self._store.watch(start, end, after)

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key, newest first."""
        return await self._store.writes_of(key, before=before, limit=limit)

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first."""
        return await self._store.deletions(start, end, before=before, limit=limit)

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first."""
        return await self._store.changes(start, end, before=before, limit=limit)

    async def superseded_bytes(self, after: int, until: int) -> int | None:
        """Return the size of the values that the writes of (after, until] superseded."""
        return await self._store.superseded_bytes(after, until)

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
