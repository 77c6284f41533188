"""`EtcdWatch`: a watch of the store. Live it is fed by the hub; the past it reads from etcd, on a stream of its own."""

import asyncio
from types import TracebackType

from grpc.aio import AioRpcError

from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.follower import Nudge
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.past import Past
from sampan.storage.etcd.reads import Reads
from sampan.storage.etcd.stream import CompactedInEtcd, WatchEndedByEtcd
from sampan.storage.hub import HubWatch, WatchHub
from sampan.storage.store import Compacted, EventBatch, StoreUnavailable

_PAUSE_S = 0.2
_BROKEN = (AioRpcError, WatchEndedByEtcd, TimeoutError, StoreUnavailable)


class Source:
    """What the watches of one store read the past from."""

    def __init__(self, client: EtcdClient, keys: Keys, nudge: Nudge, reads: Reads) -> None:
        self.reads = reads
        self.told = client.told
        self._client = client
        self._keys = keys
        self._nudge = nudge

    def past(self, start: str, end: str, after: int) -> Past:
        """The events of a range after a revision."""
        return Past(self._client, self._keys, self._nudge.another(), (start, end), after)


class EtcdWatch(HubWatch):
    """See the module. At most one stream, from when the past is first read until it is up with the hub."""

    def __init__(self, hub: WatchHub, source: Source, start: str, end: str, after: int) -> None:
        super().__init__(hub, start, end, after)
        self._source = source
        self._past: Past | None = None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, traceback)
        await self._close_past()

    async def _check_history(self) -> None:
        await self._source.reads.check(self._position)

    async def _read_history(self) -> EventBatch:
        if self._hub.closed:
            raise StopAsyncIteration
        if self._past is None:
            self._past = self._source.past(self.start, self.end, self._position)
        try:
            batch = await self._past.next(self._live_from)
            # What etcd has forgotten meanwhile may be missing, without a word (etcd 3.5.1).
            await self._check_history()
        except CompactedInEtcd as error:
            await self._close_past()
            raise Compacted(error.revision, self._hub.revision) from error
        except _BROKEN:
            await self._close_past()
            await asyncio.sleep(_PAUSE_S)
            return EventBatch([], self._position)
        await self._source.told.tell(batch.revision)
        self._position = batch.revision
        if self._position >= self._live_from:
            await self._close_past()
        return batch

    async def _close_past(self) -> None:
        past, self._past = self._past, None
        if past is not None:
            await past.close()
