"""`EtcdStore`: the Store on etcd, which several servers may share.

Concurrency: the store owns two tasks while it is open, the follower's and the one that asks for the revision.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.follower import Follower, Nudge
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.leases import Leases
from sampan.storage.etcd.reads import Reads
from sampan.storage.etcd.rounds import Rounds
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.shared import SharedAsk
from sampan.storage.etcd.turns import CompactionTurns
from sampan.storage.etcd.watch import EtcdWatch, Source
from sampan.storage.etcd.writes import Writes
from sampan.storage.hub import BUFFER_MAX, WatchHub
from sampan.storage.store import EventBatch, KeyValue, RangeResult, Revision, StoreUnreachable

_FRESH_S = 3.0
_SEEN_S = 3.0


class EtcdStore:
    """See `Store`. Keys begin with `/registry/`; revisions are etcd's, so those of other programs' writes are missing
    in the sequence. A row that expires may last longer than it was to, by a twentieth, or a minute at most.

    `clock` gives seconds, from any beginning; leases are shared by it. `granted(id, ttl_s)` is told of each lease.
    """

    def __init__(
        self,
        settings: EtcdSettings,
        *,
        watch_buffer_max: int = BUFFER_MAX,
        clock: Callable[[], float] = time.monotonic,
        granted: Callable[[int, int], object] | None = None,
    ) -> None:
        self._settings = settings
        self._keys = Keys(settings.prefix)
        self._clock = clock
        self._granted = granted
        self._hub = WatchHub(None, buffer_max=watch_buffer_max)
        self._client: EtcdClient
        self._reads: Reads
        self._writes: Writes
        self._follower: Follower
        self._source: Source
        self._turns: CompactionTurns
        self._newest: SharedAsk[int]
        self._rounds = Rounds()
        self._following: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """See `Store.open`. Returns when etcd has confirmed the watch. Raises `StoreUnreachable`."""
        assert self._following is None, "the store is open"
        self._client = client = EtcdClient(self._settings)
        try:
            self._reads = Reads(client, self._keys)
            self._writes = Writes(client, self._keys, Leases(client, self._clock, self._granted))
            nudge = Nudge(client, self._keys)
            self._follower = Follower(client, self._hub, self._keys, nudge)
            self._source = Source(client, self._keys, nudge, self._reads)
            self._turns = CompactionTurns(client)
            self._newest = SharedAsk(self._reads.revision)
            self._hub.revision = await self._reads.revision()
            self._hub.closed = False
            self._following = asyncio.create_task(self._follower.run(), name="etcd")
            await self._watching()
        except BaseException:
            await self._end()
            raise

    async def close(self) -> None:
        """See `Store.close`."""
        if self._following is not None:
            self._hub.close()
            self._newest.close()
            await self._end()

    async def revision(self) -> Revision:
        """See `Store.revision`. Returns when this server's watches have all events up to it.

        Raises `StoreUnreachable` when they do not get there in time.
        """
        newest = await self._newest.get()
        if not await self._follower.reach(newest, _FRESH_S):
            raise StoreUnreachable(f"what etcd wrote up to revision {newest} has not come in {_FRESH_S:g} s")
        return Revision(newest)

    async def get(self, key: str) -> KeyValue | None:
        """See `Store.get`."""
        return await self._reads.get(key)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        """See `Store.range`. Counts always: etcd does."""
        return await self._reads.range(start, end, limit, revision)

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        """See `Store.create`. Raises `StoreUnreachable`, `OutcomeUnknown`."""
        return await self._rounds.acknowledged(self._seen(self._writes.create(key, value, ttl_s)))

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0) -> Revision:
        """See `Store.update`. Raises `StoreUnreachable`, `OutcomeUnknown`."""
        return await self._rounds.acknowledged(self._seen(self._writes.update(key, value, expected, ttl_s)))

    async def delete(self, key: str, expected: int) -> Revision:
        """See `Store.delete`. Raises `StoreUnreachable`, `OutcomeUnknown`."""
        return await self._rounds.acknowledged(self._seen(self._writes.delete(key, expected)))

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        """See `Store.watch`."""
        return EtcdWatch(self._hub, self._source, start, end, after)

    async def compact(self, revision: int) -> None:
        """See `Store.compact`. etcd forgets at once, and clears up later."""
        await self._reads.compact(revision)

    async def take_turn(self, revision: int) -> bool:
        """See `compactor.SharedStore`."""
        return await self._turns.take(revision)

    async def size_bytes(self) -> int:
        """The database of the endpoint in use."""
        answer = await self._client.ask(messages.STATUS, messages.StatusRequest())
        size: int = answer.dbSize
        return size

    async def _seen(self, write: Awaitable[Revision]) -> Revision:
        """A write's revision when this server's watches have it, or after a while all the same: it is written."""
        revision = await write
        await self._follower.reach(revision, _SEEN_S)
        return revision

    async def _watching(self) -> None:
        try:
            async with asyncio.timeout(self._settings.total_s):
                await self._follower.watching.wait()
        except TimeoutError:
            raise StoreUnreachable("etcd does not let itself be watched") from None

    async def _end(self) -> None:
        following, self._following = self._following, None
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        await self._client.close()
