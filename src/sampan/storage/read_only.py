"""`ReadOnlyStore`: refuses all writes to a store."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import NoReturn

from sampan.core.errors import Reason, StatusError
from sampan.storage.store import EventBatch, KeyValue, RangeResult, Revision, Store

_TEXT = "the server was started with --read-only and refuses writes"


class ReadOnlyStore:
    """Store that passes reads to `store` and refuses writes with 405, on every path of the API."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def open(self) -> None:
        """See `Store.open`."""
        await self._store.open()

    async def close(self) -> None:
        """See `Store.close`."""
        await self._store.close()

    async def revision(self) -> Revision:
        """See `Store.revision`."""
        return await self._store.revision()

    async def ready(self) -> None:
        """See `Store.ready`."""
        await self._store.ready()

    async def get(self, key: str) -> KeyValue | None:
        """See `Store.get`."""
        return await self._store.get(key)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """See `Store.range`."""
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
        """See `Store.watch`."""
        return self._store.watch(start, end, after)

    async def compact(self, revision: int) -> None:
        """Raise `StatusError` 405."""
        _refuse()

    @property
    def compacted(self) -> int:
        """See `Store.compacted`."""
        return self._store.compacted

    async def size_bytes(self) -> int:
        """See `Store.size_bytes`."""
        return await self._store.size_bytes()


def _refuse() -> NoReturn:
    raise StatusError(Reason.METHOD_NOT_ALLOWED, 405, _TEXT)
