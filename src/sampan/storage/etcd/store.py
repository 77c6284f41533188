"""`EtcdStore`: the Store on etcd, which several servers may share.

Reads without a resourceVersion are linearizable because etcd is the only authority. The store requests etcd's newest
revision, and waits until its watch has delivered everything up to it. Concurrent readers share one request.

Concurrency: an open store owns three tasks: the prefix watch, the revision request, and the watch of compactions.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from grpc.aio import AioRpcError

from sampan.core.clock import monotonic
from sampan.core.event_loop.task_scope import TaskScope
from sampan.storage.broadcaster import BUFFER_MAX, WatchBroadcaster
from sampan.storage.etcd.ack_batch import AckBatch
from sampan.storage.etcd.coalesced import CoalescedCall
from sampan.storage.etcd.compaction import CompactionCoordinator
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.diagnosis import diagnosed
from sampan.storage.etcd.connection.faults import text_of
from sampan.storage.etcd.connection.messages import RangeRequest
from sampan.storage.etcd.connection.stream import WatchedThroughProxy, WatchEndedByEtcd
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.etcd.leases import Leases
from sampan.storage.etcd.prefix_watch import PrefixWatch
from sampan.storage.etcd.reads import Reads
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.watch import EtcdWatch
from sampan.storage.etcd.writes import Writes
from sampan.storage.history.row_writes import newest_writes
from sampan.storage.store import (
    Compacted,
    EventBatch,
    KeyValue,
    RangeResult,
    Revision,
    RowWrite,
    StoreIncomplete,
    StoreMisconfigured,
    StoreUnreachable,
)

_log = logging.getLogger(__name__)

_DELIVERY_S = 3.0
"""Longest wait for the watch to deliver a revision that etcd has."""


class EtcdStore:
    """Store in an etcd that several servers may share. Keys begin with `/registry/`.

    Revisions are etcd's, so the store has none for writes outside the prefix. A row may outlive its TTL by a twentieth
    of it, at most by a minute.

    `clock` returns monotonic seconds, by which leases are shared.
    """

    def __init__(
        self,
        settings: EtcdSettings,
        *,
        watch_buffer_max: int = BUFFER_MAX,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._settings = settings
        self._keys = PrefixedKeys(settings.prefix)
        self._clock = clock
        self._broadcaster = WatchBroadcaster(None, buffer_max=watch_buffer_max)
        self._client: EtcdClient
        self._reads: Reads
        self._writes: Writes
        self._watch: PrefixWatch
        self._compaction: CompactionCoordinator
        self._newest: CoalescedCall[int]
        self._acks = AckBatch()
        self._tasks = TaskScope()
        self._is_open = False

    async def open(self) -> None:
        """Prepare the store for use.

        Returns when etcd has confirmed the watch. Raises `StoreUnreachable`,
        `StoreMisconfigured`, `StoreIncomplete`.
        """
        assert not self._is_open, "the store is open"
        self._is_open = True
        self._client = client = EtcdClient(self._settings)
        try:
            self._reads = Reads(client, self._keys)
            self._newest = CoalescedCall(self._reads.revision)
            self._watch = PrefixWatch(client, self._broadcaster, self._keys, self._reads)
            leases = Leases(client, self._clock)
            self._writes = Writes(client, self._keys, self._reads, leases, self._watch.on_write)
            self._compaction = CompactionCoordinator(client)
            self._broadcaster.revision = await diagnosed(self._reads.revision(), self._settings)
            # The first request that needs permissions outside the prefix.
            await diagnosed(self._refuse_incomplete(), self._settings)
            await self._refuse_proxy()
            self._broadcaster.closed = False
            self._tasks.begin(self._watch.run(), "etcd watch")
            await self._until_watching()
            self._tasks.begin(self._compaction.follow(), "etcd compaction")
        except BaseException:
            await self._end()
            raise

    async def close(self) -> None:
        """Finish pending writes and release files."""
        if self._is_open:
            self._broadcaster.close()
            self._newest.close()
            await self._end()

    async def revision(self) -> Revision:
        """Return the newest revision (linearizable).

        Returns when this server's watches have all events up to it.

        Raises `StoreUnreachable` when etcd does not respond, or the watch does not deliver the revision in time.
        """
        newest = await self._newest.get()
        if not await self._watch.reach(newest, _DELIVERY_S):
            raise StoreUnreachable(f"etcd's watch has not delivered revision {newest} within {_DELIVERY_S:g} s")
        return Revision(newest)

    async def ready(self) -> None:
        """Wait until all earlier requests have completed. Checks that etcd responds, and that the watch delivers."""
        await self.revision()

    async def get(self, key: str) -> KeyValue | None:
        """Return the current row, or None."""
        return await self._reads.get(key)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """Return rows in key order. Always counts: etcd does."""
        return await self._reads.range(start, end, limit, revision)

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """Write a key that must not exist. Raises `StoreUnreachable`, `OutcomeUnknown`."""
        return await self._acks.acknowledged(self._delivered(self._writes.create(key, value, ttl_s)))

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        """Replace the row that is at mod revision `expected`. Raises `StoreUnreachable`, `OutcomeUnknown`."""
        return await self._acks.acknowledged(self._delivered(self._writes.update(key, value, expected, ttl_s)))

    async def delete(self, key: str, expected: int) -> Revision:
        """Delete the row that is at mod revision `expected`. Raises `StoreUnreachable`, `OutcomeUnknown`."""
        return await self._acks.acknowledged(self._delivered(self._writes.delete(key, expected)))

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """Yield all events of the range with revision > `after`."""
        return EtcdWatch(self._broadcaster, self._reads, start, end, after)

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a key, newest first. Each state is read by the revision of the one after it."""
        found: list[RowWrite] = []
        row = await self.get(key)
        if row is None:
            removed = await self.deletions(key, key + "\0", limit=1)
            if not removed:
                return found
            row = removed[0].row
            if not before or removed[0].revision < before:
                found.append(removed[0])
        created = row.create_revision
        if before and row.mod_revision >= before:
            row = await self._state_at(key, before - 1)
        while row is not None and row.create_revision == created and len(found) < limit:
            found.append(RowWrite(row.mod_revision, row, deleted=False))
            row = None if row.mod_revision == created else await self._state_at(key, row.mod_revision - 1)
        return found

    async def _state_at(self, key: str, revision: int) -> KeyValue | None:
        """Return a row at a revision; None if it did not exist, or the revision is compacted."""
        try:
            found = await self._reads.range(key, key + "\0", 1, revision)
        except Compacted:
            return None
        return found.items[0] if found.items else None

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept deletions of a range, newest first."""
        return await newest_writes(self, start, end, before=before, limit=limit, deletions_only=True)

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Return the kept writes of a range, newest first."""
        return await newest_writes(self, start, end, before=before, limit=limit)

    async def superseded_bytes(self, after: int, until: int) -> int | None:
        """Return the size of the values that the writes of (after, until] superseded."""
        return None

    async def compact(self, revision: int) -> None:
        """Drop the history up to `revision`; current rows stay.

        etcd drops history at once, and frees the space later.
        """
        await self._reads.compact(revision)
        self._compaction.compacted = max(self._compaction.compacted, revision)

    @property
    def compacted(self) -> int:
        """Newest compacted revision that this store has observed, compacted by any server; 0: none."""
        return self._compaction.compacted

    async def claim_compaction(self, revision: int) -> bool:
        """Return True if this server must compact to `revision` in this interval."""
        return await self._compaction.claim(revision)

    async def size_bytes(self) -> int:
        """Return the size of the database of the endpoint in use."""
        response = await self._client.call(messages.STATUS, messages.StatusRequest())
        size: int = response.dbSize
        return size

    async def incomplete_copy(self) -> str | None:
        """Return the description of an unfinished copy into the prefix, or None. Raises `StoreUnreachable`."""
        found = await self._client.call(messages.RANGE, RangeRequest(key=self._keys.incomplete))
        return found.kvs[0].value.decode(errors="replace") if found.kvs else None

    async def _delivered(self, write: Awaitable[Revision]) -> Revision:
        """Return the write's revision when this server's watches have it. After a timeout, return it anyway."""
        revision = await write
        await self._watch.reach(revision, _DELIVERY_S)
        return revision

    async def _refuse_incomplete(self) -> None:
        what = await self.incomplete_copy()
        if what is not None:
            raise StoreIncomplete(what)

    async def _refuse_proxy(self) -> None:
        try:
            async with self._client.watch(self._keys.barrier, b"", 0):
                pass
        except WatchedThroughProxy as error:
            raise StoreMisconfigured(f"{error} ({', '.join(self._settings.servers)})") from error
        except (AioRpcError, TimeoutError, WatchEndedByEtcd) as error:
            _log.debug("the watch that detects a proxy failed, the prefix watch retries: %s", text_of(error))

    async def _until_watching(self) -> None:
        try:
            async with asyncio.timeout(self._settings.total_s):
                await self._watch.established.wait()
        except TimeoutError:
            raise StoreUnreachable("etcd has not confirmed the watch of the prefix in time") from None

    async def _end(self) -> None:
        self._is_open = False
        await self._tasks.aclose()
        await self._client.close()
