"""`ReadOnlyStore`: refuses all writes to a store."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NoReturn

from sampan.core.errors import Reason, StatusError
from sampan.storage.store import EventBatch, KeyValue, RangeResult, Revision, RowWrite, Store

_TEXT = "the server was started with --read-only and refuses writes"


class ReadOnlyStore:
    """Store that passes reads to `store` and refuses writes with 405, on every path of the API."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def open(self) -> None:
        """Prepare the store for use."""
        await self._store.open()

    async def close(self) -> None:
        """Finish pending writes and release files."""
        await self._store.close()

    async def revision(self) -> Revision:
        """Return the newest revision (linearizable)."""
        return await self._store.revision()

    async def ready(self) -> None:
        """Wait until all earlier requests have completed."""
        await self._store.ready()

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""
        return await self._store.get(key)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order."""
        return await self._store.range(start, end, limit=limit, revision=revision, count=count)

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Raise `StatusError` 405."""
        _refuse()

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Raise `StatusError` 405."""
        _refuse()

    async def delete(self, key: str, expected: int) -> Revision:
        """Raise `StatusError` 405."""
        _refuse()

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
        """Raise `StatusError` 405."""
        _refuse()

    @property
    def compacted(self) -> int:
        """Newest compacted revision that this store has observed, compacted by any server; 0: none."""
        return self._store.compacted

    async def size_bytes(self) -> int:
        """Return the size of the store, for metrics."""
        return await self._store.size_bytes()


def _refuse() -> NoReturn:
    raise StatusError(Reason.METHOD_NOT_ALLOWED, 405, _TEXT)
