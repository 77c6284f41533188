"""`TranslatedStore`: a store that others write to too, each in a form of its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import lru_cache

from sampan.storage.compactor import SharedStore
from sampan.storage.store import Conflict, EventBatch, KeyValue, RangeResult, Revision, Store
from sampan.storage.translation.forms import canonical, is_canonical
from sampan.storage.translation.watch import presented_row, translated_watch

_KEPT = 1024
"""Values that are kept in both forms: an event has the row before it, which was an event before."""

Stored = Callable[[bytes], bytes]
"""Gives the form in which a value is to be stored."""


class TranslatedStore:
    """Hands everything on to `store`. What is read is in our form, what is written goes through `stored`."""

    def __init__(self, store: Store, stored: Stored) -> None:
        self._store = store
        self._stored = stored
        self._present = lru_cache(_KEPT)(canonical)

    async def open(self) -> None:
        """See `Store.open`."""
        await self._store.open()

    async def close(self) -> None:
        """See `Store.close`."""
        await self._store.close()

    async def revision(self) -> Revision:
        """See `Store.revision`."""
        return await self._store.revision()

    async def get(self, key: str) -> KeyValue | None:
        """See `Store.get`."""
        return presented_row(await self._store.get(key), self._present)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """See `Store.range`."""
        found = await self._store.range(start, end, limit=limit, revision=revision, count=count)
        if all(is_canonical(row.value) for row in found.items):
            return found
        return found._replace(items=[row._replace(value=canonical(row.value)) for row in found.items])

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """See `Store.create`."""
        return await self._store.create(key, self._stored(value), ttl_s=ttl_s)

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0) -> Revision:
        """See `Store.update`."""
        try:
            return await self._store.update(key, self._stored(value), expected, ttl_s=ttl_s)
        except Conflict as error:
            raise Conflict(error.key, presented_row(error.current, self._present)) from error

    async def delete(self, key: str, expected: int) -> Revision:
        """See `Store.delete`."""
        try:
            return await self._store.delete(key, expected)
        except Conflict as error:
            raise Conflict(error.key, presented_row(error.current, self._present)) from error

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """See `Store.watch`."""
        return translated_watch(self._store.watch(start, end, after), self._present)

    async def compact(self, revision: int) -> None:
        """See `Store.compact`."""
        await self._store.compact(revision)

    async def size_bytes(self) -> int:
        """See `Store.size_bytes`."""
        return await self._store.size_bytes()


class _SharedTranslatedStore(TranslatedStore):
    """The same for a store that several servers write to."""

    def __init__(self, store: Store, shared: SharedStore, stored: Stored) -> None:
        super().__init__(store, stored)
        self._shared = shared

    async def take_turn(self, revision: int) -> bool:
        """See `SharedStore.take_turn`."""
        return await self._shared.take_turn(revision)


def as_it_is(value: bytes) -> bytes:
    """Our form is stored."""
    return value


def translated(store: Store, stored: Stored = as_it_is) -> Store:
    """The store with values in our form, whatever others wrote; `stored` gives the form of what is written to it.

    It can do what `store` can.
    """
    if isinstance(store, SharedStore):
        return _SharedTranslatedStore(store, store, stored)
    return TranslatedStore(store, stored)
