"""`HistoryReader`: reads older events of a range from etcd, by a watch on a separate stream."""

import asyncio
from contextlib import AsyncExitStack

from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.stream import WatchEndedByEtcd, WatchStream
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.etcd.progress import ProgressRequester
from sampan.storage.store import EventBatch

_SILENCE_S = 0.15
"""Silence after which progress is requested. etcd synchronizes watches that start at an older revision every 100 ms."""
_SILENCE_MAX_S = 10.0
"""Longest time without progress before the watch is closed."""


class HistoryReader:
    """Reader of older events.

    A single task uses and closes it. gRPC's flow control makes etcd send as fast as the task reads.
    """

    def __init__(self, client: EtcdClient, keys: PrefixedKeys, span: tuple[str, str], after: int) -> None:
        self._client = client
        self._keys = keys
        self._progress = ProgressRequester(client, keys)
        self._span = span
        self._position = after
        self._stack = AsyncExitStack()
        self._stream: WatchStream | None = None
        self._endpoint = client.endpoint

    async def next(self, until: int) -> EventBatch:
        """Return events of the range up to `until` (a revision that etcd has), at least one unless there is none.

        Raises `CompactedInEtcd`; `AioRpcError`, `WatchEndedByEtcd`, `TimeoutError`, `StoreUnavailable` if the stream
        breaks. The events returned until then have no gap.
        """
        stream = self._stream or await self._open()
        now = asyncio.get_running_loop().time
        deadline = now() + _SILENCE_MAX_S
        while True:
            response = await stream.next_within(_SILENCE_S)
            if now() > deadline:
                self._client.leave(self._endpoint)
                raise WatchEndedByEtcd(f"a watch of older events made no progress in {_SILENCE_MAX_S:g} s")
            if response is None:
                await self._progress.request(stream)
                continue
            reached = min(self._progress.revision_of(response), until)
            if reached <= self._position:
                continue
            start, end = self._span
            events = self._keys.events(response.events, self._position)
            chosen = [event for event in events if event.revision <= until and start <= event.key < end]
            self._position = reached
            if chosen or reached == until:
                return EventBatch(chosen, reached)

    async def close(self) -> None:
        """Close the watch. Idempotent."""
        self._stream = None
        await self._stack.aclose()

    async def _open(self) -> WatchStream:
        self._endpoint = await self._progress.choose_endpoint()
        whole = (self._keys.barrier, self._keys.end)
        key, end = whole if self._progress.by_write else self._keys.span(*self._span)
        # Start at the known revision, not after it: etcd then refuses the watch if it has compacted what follows.
        watch = self._client.watch(key, end, max(self._position, 1), at=self._endpoint)
        self._stream = await self._stack.enter_async_context(watch)
        return self._stream
