"""`EncryptedStore`: encrypts the values of a store; its callers see plain values.

Concurrency: `providers` may be replaced at any time; each value uses the current ones. The seeds that a batch of rows
needs are fetched before its values are decrypted (see `Transformer.fetch_keys`).
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from time import perf_counter

from sampan.core.gvk import GroupResource
from sampan.storage.broadcaster import LocalWatch
from sampan.storage.compactor import SharedStore
from sampan.storage.encryption.providers import Providers
from sampan.storage.encryption.transformer import EncryptionError, Identity, KeyServiceDown, Transformer
from sampan.storage.store import (
    Conflict,
    EventBatch,
    KeyValue,
    RangeResult,
    Revision,
    RowWrite,
    Store,
    StoreEvent,
    StoreUnreachable,
    UnreadableValue,
    Untransformable,
)

ResourceOf = Callable[[str], tuple[str, str] | None]
"""Returns group and resource of a key; None if it belongs to no resource and is not encrypted."""


class EncryptedStore:
    """Store with encrypted values. Values that cannot be decrypted are `UnreadableValue` in `range` and `watch`."""

    def __init__(self, store: Store, providers: Providers, resource_of: ResourceOf) -> None:
        self._store = store
        self._resource_of = resource_of
        self.providers = providers

    def use(self, providers: Providers) -> None:
        """Use other providers from the next value on."""
        self.providers = providers

    async def open(self) -> None:
        """Prepare the store for use. Also checks the KMS plug-ins for the first time."""
        await self.providers.prime()
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
        """Return the current row, or None. Raises `Untransformable`."""
        row = await self._store.get(key)
        if row is None:
            return None
        await self.fetch_keys([row])
        return self._read_or_raise(row)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order."""
        found = await self._store.range(start, end, limit=limit, revision=revision, count=count)
        await self.fetch_keys(found.items)
        return found._replace(items=[self.plain(row) for row in found.items])

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Write a key that must not exist. Raises `Untransformable`."""
        return await self._store.create(key, self._written(key, value), ttl_s=ttl_s)

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`. Raises `Untransformable`."""
        try:
            return await self._store.update(key, self._written(key, value), expected, ttl_s=ttl_s, frees=frees)
        except Conflict as conflict:
            raise await self._readable(conflict) from None

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`."""
        try:
            return await self._store.delete(key, expected)
        except Conflict as conflict:
            raise await self._readable(conflict) from None

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Yield all events of the range with revision > `after`."""
        return self._watch(start, end, after)

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key, newest first."""
        return await self._plain_writes(await self._store.writes_of(key, before=before, limit=limit))

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first."""
        return await self._plain_writes(await self._store.deletions(start, end, before=before, limit=limit))

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first."""
        return await self._plain_writes(await self._store.changes(start, end, before=before, limit=limit))

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

    async def is_stale(self, key: str) -> bool:
        """Return True if a new write would encrypt the value in another way."""
        row = await self._store.get(key)
        if row is None:
            return False
        await self.fetch_keys([row])
        try:
            return self._transformer(key).read(row.value, key.encode()).stale
        except EncryptionError:
            return True

    async def fetch_keys(self, rows: Iterable[KeyValue]) -> None:
        """Fetch the keys that these rows need. Raises `StoreUnreachable` if a plug-in does not respond."""
        by_transformer: dict[Transformer, list[bytes]] = {}
        for row in rows:
            by_transformer.setdefault(self._transformer(row.key), []).append(row.value)
        for transformer, values in by_transformer.items():
            try:
                await transformer.fetch_keys(values)
            except KeyServiceDown as error:
                raise StoreUnreachable(str(error)) from None

    def plain(self, row: KeyValue) -> KeyValue:
        """Return the row, decrypted if possible."""
        try:
            return self._read(row)
        except EncryptionError as error:
            return row._replace(value=UnreadableValue(_text(row.key, error).encode()))

    async def _plain_writes(self, writes: Sequence[RowWrite]) -> Sequence[RowWrite]:
        await self.fetch_keys([write.row for write in writes])
        return [write._replace(row=self.plain(write.row)) for write in writes]

    def plain_batch(self, batch: EventBatch) -> EventBatch:
        """Return the batch with its values decrypted if possible."""
        return EventBatch([self._plain_event(event) for event in batch.events], batch.revision)

    @asynccontextmanager
    async def _watch(self, start: str, end: str, after: int) -> AsyncIterator[AsyncIterator[EventBatch]]:
        async with self._store.watch(start, end, after) as found:
            yield (
                LocalEncryptedWatch(self, found, found)
                if isinstance(found, LocalWatch)
                else EncryptedWatch(self, found)
            )

    def _plain_event(self, event: StoreEvent) -> StoreEvent:
        value = event.value
        if value is not None:
            value = self.plain(KeyValue(event.key, value, 0, event.revision)).value
        previous = None if event.previous is None else self.plain(event.previous)
        return StoreEvent(event.revision, event.key, value, previous)

    def _transformer(self, key: str) -> Transformer:
        group, resource = self._resource_of(key) or ("", "")
        return self.providers.of(group, resource) if resource else self.providers.identity

    def _read(self, row: KeyValue) -> KeyValue:
        transformer, key = self._transformer(row.key), row.key.encode()
        if isinstance(transformer, Identity):
            return row._replace(value=transformer.read(row.value, key).value)
        began, failure = perf_counter(), None
        try:
            return row._replace(value=transformer.read(row.value, key).value)
        except EncryptionError as error:
            failure = error
            raise
        finally:
            self.providers.measures.read(self._shown(row.key), row.value, perf_counter() - began, failure)

    def _read_or_raise(self, row: KeyValue) -> KeyValue:
        try:
            return self._read(row)
        except EncryptionError as error:
            raise Untransformable(_text(row.key, error)) from None

    def _written(self, key: str, value: bytes) -> bytes:
        transformer, measures = self._transformer(key), self.providers.measures
        began = perf_counter()
        try:
            stored = transformer.write(value, key.encode())
        except EncryptionError as error:
            measures.not_written(self._shown(key), transformer.prefix, error)
            raise Untransformable(str(error)) from None
        if not isinstance(transformer, Identity):
            measures.written(self._shown(key), stored, perf_counter() - began)
        return stored

    def _shown(self, key: str) -> str:
        """Return the resource of a key, as it appears in metrics."""
        group, resource = self._resource_of(key) or ("", "")
        return str(GroupResource(group, resource))

    async def _readable(self, conflict: Conflict) -> Exception:
        current = conflict.current
        if current is None:
            return conflict
        await self.fetch_keys([current])
        try:
            return Conflict(conflict.key, self._read_or_raise(current))
        except Untransformable as error:
            return error


class EncryptedWatch:
    """Iterator of `EncryptedStore.watch`."""

    def __init__(self, store: EncryptedStore, watch: AsyncIterator[EventBatch]) -> None:
        self._store = store
        self._watch = watch
        self._held = False

    def __aiter__(self) -> AsyncIterator[EventBatch]:
        return self

    async def __anext__(self) -> EventBatch:
        batch = await self._watch.__anext__()
        self._held = True
        try:
            rows = [KeyValue(event.key, event.value, 0, 0) for event in batch.events if event.value is not None]
            before = [event.previous for event in batch.events if event.previous is not None]
            await self._store.fetch_keys([*rows, *before])
        finally:
            self._held = False
        return self._store.plain_batch(batch)


class LocalEncryptedWatch(EncryptedWatch):
    """`EncryptedWatch` of an engine in this process. See `LocalWatch`."""

    def __init__(self, store: EncryptedStore, watch: AsyncIterator[EventBatch], local: LocalWatch) -> None:
        super().__init__(store, watch)
        self._local = local

    def poll(self) -> EventBatch | None:
        """Take the pending events with the store's revision.

        Also returns None while the iterator fetches keys for a batch.
        """
        batch = None if self._held else self._local.poll()
        return None if batch is None else self._store.plain_batch(batch)

    @property
    def has_events(self) -> bool:
        """True if events are pending, not only a newer revision of the store."""
        return self._local.has_events

    def on_events(self, listener: Callable[[], None]) -> None:
        """Call `listener` each time that `has_events` becomes True."""
        self._local.on_events(listener)


class _SharedEncryptedStore(EncryptedStore):
    """`EncryptedStore` for a store that several servers write to."""

    def __init__(self, store: Store, shared: SharedStore, providers: Providers, resource_of: ResourceOf) -> None:
        super().__init__(store, providers, resource_of)
        self._shared = shared

    async def claim_compaction(self, revision: int) -> bool:
        """Return True if this server must compact to `revision` in this interval."""
        return await self._shared.claim_compaction(revision)


def encrypted(store: Store, providers: Providers, resource_of: ResourceOf) -> EncryptedStore:
    """Return the store with encrypted values. It keeps the capabilities of `store`."""
    if isinstance(store, SharedStore):
        return _SharedEncryptedStore(store, store, providers, resource_of)
    return EncryptedStore(store, providers, resource_of)


def _text(key: str, error: EncryptionError) -> str:
    return f'unable to transform key "{key}": {error}'
