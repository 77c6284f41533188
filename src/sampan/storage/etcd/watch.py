"""`EtcdWatch`: a watch of the store, with new events from the broadcaster and older events from etcd."""

import asyncio
from types import TracebackType

from grpc.aio import AioRpcError

from sampan.storage.broadcaster import BufferedWatch, WatchBroadcaster
from sampan.storage.etcd.connection.stream import CompactedInEtcd, WatchEndedByEtcd
from sampan.storage.etcd.history_reader import HistoryReader
from sampan.storage.etcd.reads import Reads
from sampan.storage.store import Compacted, EventBatch, StoreUnavailable

_PAUSE_S = 0.2
_BROKEN = (AioRpcError, WatchEndedByEtcd, TimeoutError, StoreUnavailable)


class EtcdWatch(BufferedWatch):
    """Watch of a range of keys. It has a separate stream only while it catches up with the broadcaster."""

    def __init__(self, broadcaster: WatchBroadcaster, reads: Reads, start: str, end: str, after: int) -> None:
        super().__init__(broadcaster, start, end, after)
        self._reads = reads
        self._reader: HistoryReader | None = None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, traceback)
        await self._close_reader()

    async def _check_history(self) -> None:
        await self._reads.check(self._position)

    async def _read_history(self) -> EventBatch:
        if self._broadcaster.closed:
            raise StopAsyncIteration
        if self._reader is None:
            self._reader = self._reads.history(self.start, self.end, self._position)
        try:
            batch = await self._reader.next(self._live_from)
            # etcd 3.5.1 may leave out events that it compacts meanwhile, without an error.
            await self._check_history()
        except CompactedInEtcd as error:
            await self._close_reader()
            raise Compacted(error.revision, self._broadcaster.revision) from error
        except _BROKEN:
            await self._close_reader()
            await asyncio.sleep(_PAUSE_S)
            return EventBatch([], self._position)
        self._position = batch.revision
        if self._position >= self._live_from:
            await self._close_reader()
        return batch

    async def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            await reader.close()
