"""`LateStore`: a store that is shared with other servers, whose events come late."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from random import Random
from types import TracebackType
from typing import Self

from sampan.storage.broadcaster import LocalWatch
from sampan.storage.signal import Signal
from sampan.storage.store import EventBatch, KeyValue, RangeResult, Revision, RowWrite, Store


class LateStore:
    """One server's way to the shared store.

    Events come with its watches only every few milliseconds, at a different time for each watch. That is so for its own
    writes, too. `held` set: no event comes at all.
    """

    def __init__(self, shared: Store, seed: int = 0, *, late_max_s: float = 0.01) -> None:
        self.shared = shared
        self.held = False
        self._random = Random(seed)
        self._late_max_s = late_max_s
        self._watches: list[LateWatch] = []
        self._ticking: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """The shared store is open already."""
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        """The shared store stays open."""
        if self._ticking is not None:
            self._ticking.cancel()
            with suppress(asyncio.CancelledError):
                await self._ticking

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._random.uniform(0, self._late_max_s))
            for watch in [] if self.held else list(self._watches):
                if self._random.random() < 0.7:
                    watch.receive()

    def receive(self, prefix: str) -> None:
        """Let what is pending for the watches of this prefix come."""
        for watch in self._watches:
            if watch.start == prefix:
                watch.receive()

    async def revision(self) -> Revision:
        """Makes the watches report their progress, too."""
        for watch in self._watches:
            watch.requested = True
        return await self.shared.revision()

    async def ready(self) -> None:
        await self.shared.ready()

    async def get(self, key: str) -> KeyValue | None:
        await asyncio.sleep(0)
        return await self.shared.get(key)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        return await self.shared.range(start, end, limit=limit, revision=revision, count=count)

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        await asyncio.sleep(0)
        revision = await self.shared.create(key, value, ttl_s=ttl_s)
        await asyncio.sleep(0)
        return revision

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        await asyncio.sleep(0)
        return await self.shared.update(key, value, expected, ttl_s=ttl_s)

    async def delete(self, key: str, expected: int) -> Revision:
        await asyncio.sleep(0)
        return await self.shared.delete(key, expected)

    def watch(self, start: str, end: str, after: int) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        return LateWatch(self._watches, start, self.shared.watch(start, end, after))

    async def writes_of(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        return await self.shared.writes_of(key, before=before, limit=limit)

    async def deletions(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        return await self.shared.deletions(start, end, before=before, limit=limit)

    async def changes(self, start: str, end: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        return await self.shared.changes(start, end, before=before, limit=limit)

    async def superseded_bytes(self, after: int, until: int) -> int | None:
        return await self.shared.superseded_bytes(after, until)

    async def compact(self, revision: int) -> None:
        await self.shared.compact(revision)

    @property
    def compacted(self) -> int:
        return self.shared.compacted

    async def size_bytes(self) -> int:
        return await self.shared.size_bytes()


class LateWatch:
    """A watch that is not a `LocalWatch`: its batches come when the store releases them."""

    def __init__(
        self, watches: "list[LateWatch]", start: str, inner: AbstractAsyncContextManager[AsyncIterator[EventBatch]]
    ) -> None:
        self.requested = False
        self.start = start
        self._watches = watches
        self._context = inner
        self._inner: LocalWatch
        self._received: deque[EventBatch] = deque()
        self._signal = Signal()
        self._events: AsyncIterator[EventBatch]

    async def __aenter__(self) -> Self:
        self._events = await self._context.__aenter__()
        assert isinstance(self._events, LocalWatch)
        self._inner = self._events
        self._watches.append(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._watches.remove(self)
        await self._context.__aexit__(kind, error, traceback)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventBatch:
        while not self._received:
            await self._signal.wait()
            if not self._received:
                return await anext(self._events)
        return self._received.popleft()

    def receive(self) -> None:
        """Let what is pending come."""
        if not self.requested and not self._inner.has_events:
            return
        batch = self._inner.poll()
        if batch is not None:
            self.requested = False
            self._received.append(batch)
        self._signal.notify()
