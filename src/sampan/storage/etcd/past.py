"""`Past`: what was written after a revision, read from etcd by a watch of its own."""

import asyncio
from contextlib import AsyncExitStack

from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.follower import Nudge
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.stream import WatchEndedByEtcd, WatchStream
from sampan.storage.store import EventBatch

_SILENCE_S = 0.15
"""etcd brings watches that begin in the past up to date every 100 ms."""
_SILENCE_MAX_S = 10.0
"""After so long the watch is given up: nothing will come."""


class Past:
    """Read by one task, and closed by it. etcd sends only as fast as is read."""

    def __init__(self, client: EtcdClient, keys: Keys, nudge: Nudge, span: tuple[str, str], after: int) -> None:
        self._client = client
        self._keys = keys
        self._nudge = nudge
        self._span = span
        self._position = after
        self._stack = AsyncExitStack()
        self._stream: WatchStream | None = None
        self._endpoint = client.endpoint

    async def next(self, until: int) -> EventBatch:
        """Some events of the range up to `until` (a revision that etcd has), at least one unless there is none.

        Raises `CompactedInEtcd`; `AioRpcError`, `WatchEndedByEtcd`, `TimeoutError`, `StoreUnavailable` when the stream
        broke: what came so far is good.
        """
        stream = self._stream or await self._open()
        now = asyncio.get_running_loop().time
        deadline = now() + _SILENCE_MAX_S
        while True:
            response = await stream.next_within(_SILENCE_S)
            if now() > deadline:
                self._client.leave(self._endpoint)
                raise WatchEndedByEtcd(f"a watch of the past got no further in {_SILENCE_MAX_S:g} s")
            if response is None:
                await self._nudge.give(stream)
                continue
            reached = min(self._nudge.reached(response), until)
            if reached <= self._position:
                continue
            start, end = self._span
            events = self._keys.events(response.events, self._position)
            chosen = [event for event in events if event.revision <= until and start <= event.key < end]
            self._position = reached
            if chosen or reached == until:
                return EventBatch(chosen, reached)

    async def close(self) -> None:
        """End the watch. Idempotent."""
        self._stream = None
        await self._stack.aclose()

    async def _open(self) -> WatchStream:
        self._endpoint = await self._nudge.learn()
        whole = (self._keys.barrier, self._keys.end)
        key, end = whole if self._nudge.whole else self._keys.span(*self._span)
        # From the revision itself on, though its event is known: etcd then refuses what it does not have in whole.
        watch = self._client.watch(key, end, max(self._position, 1), at=self._endpoint)
        self._stream = await self._stack.enter_async_context(watch)
        return self._stream
