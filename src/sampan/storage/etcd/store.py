"""`EtcdStore`: the Store on etcd, which several servers may share.

Concurrency: while it is open the store owns the tasks of the follower, of its entry, of the one that asks for the
revision, of those that look for others who write, and of the connections to these.
"""

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.diagnosis import explained
from sampan.storage.etcd.entry import Entry
from sampan.storage.etcd.follower import Follower, Nudge
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.leases import Leases
from sampan.storage.etcd.mark import mark_of
from sampan.storage.etcd.others import MASTER_LEASES, Others
from sampan.storage.etcd.peers import Listener, Peers, Place
from sampan.storage.etcd.reads import Reads
from sampan.storage.etcd.rounds import Rounds
from sampan.storage.etcd.settings import EtcdSettings
from sampan.storage.etcd.shared import SharedAsk
from sampan.storage.etcd.strangers import strangers
from sampan.storage.etcd.stream import WatchedThroughProxy, WatchEndedByEtcd
from sampan.storage.etcd.turns import CompactionTurns
from sampan.storage.etcd.watch import EtcdWatch, Source
from sampan.storage.etcd.writes import Writes
from sampan.storage.hub import BUFFER_MAX, WatchHub
from sampan.storage.store import (
    Compacted,
    EventBatch,
    KeyValue,
    RangeResult,
    Revision,
    StoreIncomplete,
    StoreMisconfigured,
    StoreUnavailable,
    StoreUnreachable,
    prefix_end,
)

_log = logging.getLogger(__name__)

_FRESH_S = 3.0
_SEEN_S = 3.0
_LOOK_OUT_PAUSE_S = 0.1


class EtcdStore:
    """See `Store`. Keys begin with `/registry/`; revisions are etcd's, so those of other programs' writes are missing
    in the sequence. A row that expires may last longer than it was to, by a twentieth, or a minute at most.

    `clock` gives seconds, from any beginning; leases are shared by it. `granted(id, ttl_s)` is told of each lease.
    `listen()` gives a bound socket at which other servers may ask this one how far it is, and the address at which they
    find it. The store calls it when it is opened, and raises what it raises; it closes the socket.
    """

    def __init__(
        self,
        settings: EtcdSettings,
        *,
        watch_buffer_max: int = BUFFER_MAX,
        clock: Callable[[], float] = time.monotonic,
        granted: Callable[[int, int], object] | None = None,
        listen: Callable[[], tuple[socket.socket, str]] | None = None,
    ) -> None:
        self._settings = settings
        self._keys = Keys(settings.prefix)
        self._clock = clock
        self._granted = granted
        self._listen = listen
        self._listener: Listener | None = None
        self._hub = WatchHub(None, buffer_max=watch_buffer_max)
        self.lost: Callable[[], object] | None = None
        """Told each time that etcd is found to be away. Set before the store is opened."""
        self._client: EtcdClient
        self._reads: Reads
        self._writes: Writes
        self._follower: Follower
        self._source: Source
        self._turns: CompactionTurns
        self._entry: Entry
        self._others: Others
        self._peers = Peers()
        self._newest: SharedAsk[int]
        self._rounds = Rounds()
        self._following: asyncio.Task[None] | None = None
        self._looking_out: asyncio.Task[None] | None = None
        self._heeding: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """See `Store.open`. Returns when etcd has confirmed the watch. Raises `StoreUnreachable`,
        `StoreMisconfigured`, `StoreIncomplete`.
        """
        assert self._following is None, "the store is open"
        self._client = client = EtcdClient(self._settings)
        client.lost = self.lost
        try:
            self._entry = self._new_entry(client)
            if self._listen is not None:
                sock, host = self._listen()
                place = Place(host, sock.getsockname()[1], os.urandom(32))
                self._listener = Listener(sock, place, self._told, client.told)
                self._entry.value = place.row()
            self._others = Others(client, self._keys, self._entry, self._peers, self._settings.hold_s)
            self._reads = Reads(client, self._keys)
            nudge = Nudge(client, self._keys)
            self._follower = Follower(client, self._hub, self._keys, nudge, self._others.alone)
            leases = Leases(client, self._clock, self._granted)
            self._writes = Writes(client, self._keys, leases, self._entry, self._follower.wrote)
            self._source = Source(client, self._keys, nudge, self._reads)
            self._turns = CompactionTurns(client)
            self._newest = SharedAsk(self._others.ask)
            self._hub.revision = await explained(self._reads.revision(), self._settings)
            await self._refuse_strangers()
            await explained(self._refuse_part(), self._settings)  # who may read less than this is told here
            await self._refuse_proxy()
            self._hub.closed = False
            self._following = asyncio.create_task(self._follower.run(), name="etcd")
            if self._listener is not None:
                await self._listener.start()
            if self._settings.writes:
                self._entry.enter()
            await self._watching()
            self._looking_out = asyncio.create_task(self._look_out(), name="etcd others")
            self._heeding = asyncio.create_task(self._turns.heed(), name="etcd compactions")
        except BaseException:
            await self._end()
            raise

    async def close(self) -> None:
        """See `Store.close`."""
        if self._following is not None:
            self._hub.close()
            self._newest.close()
            self._others.close()
            await self._end()

    async def revision(self) -> Revision:
        """See `Store.revision`. Returns when this server's watches have all events up to it.

        Who is asked, if anybody, see `Others`. Raises `StoreUnreachable` when the watches do not get there in time.
        """
        newest, others = self._told(), self._others.promised()
        newest = max(newest, await self._newest.get() if others is None else others)
        if not await self._follower.reach(newest, _FRESH_S):
            raise StoreUnreachable(f"what etcd wrote up to revision {newest} has not come in {_FRESH_S:g} s")
        return Revision(newest)

    async def ready(self) -> None:
        """See `Store.ready`. etcd says how far it is, and the watches are there."""
        await self.revision()

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

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
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
        self._turns.compacted = max(self._turns.compacted, revision)

    @property
    def compacted(self) -> int:
        """See `Store.compacted`."""
        return self._turns.compacted

    async def take_turn(self, revision: int) -> bool:
        """See `compactor.SharedStore`."""
        return await self._turns.take(revision)

    async def size_bytes(self) -> int:
        """The database of the endpoint in use."""
        answer = await self._client.ask(messages.STATUS, messages.StatusRequest())
        size: int = answer.dbSize
        return size

    def _new_entry(self, client: EtcdClient) -> Entry:
        return Entry(client, self._keys, self._settings.entry_wait_s)

    def _told(self) -> int:
        """The newest revision of which this store has told anybody, or may have."""
        return max(self._client.told.newest, self._hub.revision)

    async def _seen(self, write: Awaitable[Revision]) -> Revision:
        """A write's revision when this server's watches have it, or after a while all the same: it is written."""
        revision = await write
        if not await self._follower.reach(revision, _SEEN_S):
            await self._client.told.tell(revision)
        return revision

    async def _look_out(self) -> None:
        """Doubt that it is known who writes as soon as a kube-apiserver says where it is."""
        while True:
            try:
                async with self.watch(MASTER_LEASES, prefix_end(MASTER_LEASES), self._hub.revision) as watch:
                    async for batch in watch:
                        for event in batch.events:
                            self._others.doubt(event.key)
                return
            except (Compacted, StoreUnavailable) as error:
                _log.debug("kube-apiservers are looked out for anew: %s", error)
            await asyncio.sleep(_LOOK_OUT_PAUSE_S)

    async def _refuse_part(self) -> None:
        what = await mark_of(self._client, self._keys)
        if what is not None:
            raise StoreIncomplete(what)

    async def _refuse_strangers(self) -> None:
        if found := await strangers(self._settings):
            said = "; ".join(map(str, found))
            raise StoreMisconfigured(f"etcd cannot be used: {said}: --etcd-servers names the members of one cluster")

    async def _refuse_proxy(self) -> None:
        try:
            async with self._client.watch(self._keys.barrier, b"", 0):
                pass
        except WatchedThroughProxy as error:
            raise StoreMisconfigured(f"{error} ({', '.join(self._settings.servers)})") from error
        except (AioRpcError, TimeoutError, WatchEndedByEtcd) as error:
            _log.debug("the first watch, of nothing, broke: %s", error)  # the next one is tried more than once

    async def _watching(self) -> None:
        try:
            async with asyncio.timeout(self._settings.total_s):
                await self._follower.watching.wait()
        except TimeoutError:
            raise StoreUnreachable("etcd does not let itself be watched") from None

    async def _end(self) -> None:
        tasks = [task for task in (self._following, self._looking_out, self._heeding) if task is not None]
        self._following = self._looking_out = self._heeding = None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._listener is not None:
            self._listener.close()
        self._peers.close()
        await self._entry.leave()
        await self._client.close()
