"""`InOrderQueue`: every event, in the order of the watch, across all keys.

A list is one delta and is applied at once, so no reader sees a half-replaced store. A reflector that is more than two
batches ahead of its informer waits. So the queue is bounded by two batches and the events of one read of the watch.
Source: client-go tools/cache/the_real_fifo.go `RealFIFO` with AtomicEvents (1.36).
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Final, Generic, TypeVar

from sampan.informer.queues.delta import Batch, Delta, DeltaType
from sampan.informer.ref import Ref

T = TypeVar("T")

BATCH_MAX: Final = 1000
"""Limit of deltas in one batch."""

_ALONE = frozenset({DeltaType.REPLACED_ALL, DeltaType.SYNC_ALL, DeltaType.BOOKMARK})


class InOrderQueue(Generic[T]):
    """Deltas in watch order. REPLACED_ALL, SYNC_ALL and BOOKMARK are separate batches."""

    def __init__(self) -> None:
        self._deltas: deque[Delta[T]] = deque()
        self._filled = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._populated = False
        self._initial_left = 0

    def __len__(self) -> int:
        return len(self._deltas)

    def add(self, ref: Ref[T], *, ordered: bool = True) -> None:
        """Add a delta for a new object. If not `ordered`, it is part of the initial state of a watch."""
        self._populated = True
        self._put(Delta(DeltaType.ADDED, ref, ref.resource_version if ordered else ""))

    def update(self, ref: Ref[T]) -> None:
        """Queue MODIFIED."""
        self._populated = True
        self._put(Delta(DeltaType.UPDATED, ref, ref.resource_version))

    def delete(self, ref: Ref[T]) -> None:
        """Add a delta for a deletion, with the last state of the object."""
        self._populated = True
        self._put(Delta(DeltaType.DELETED, ref, ref.resource_version))

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        """Queue a list as one delta."""
        self._put(Delta(DeltaType.REPLACED_ALL, None, resource_version, refs))
        if not self._populated:
            self._populated = True
            self._initial_left = len(self._deltas)

    def bookmark(self, resource_version: str) -> None:
        """Queue a version that has been reached."""
        self._put(Delta(DeltaType.BOOKMARK, None, resource_version))

    def resync(self) -> None:
        """Queue a resync as one delta, after all queued deltas, so handlers get no state twice."""
        self._put(Delta(DeltaType.SYNC_ALL))

    async def room(self) -> None:
        """Wait until fewer than two batches are queued."""
        await self._has_room.wait()

    def has_synced(self) -> bool:
        """Return True if the first list has been taken out, or if single events came first."""
        return self._populated and self._initial_left == 0

    async def pop_batch(self) -> Batch[T]:
        """Take up to `BATCH_MAX` events, or one list, resync or bookmark."""
        await self._filled.wait()
        is_in_initial_list = not self.has_synced()
        deltas = self._take()
        self._initial_left = max(self._initial_left - len(deltas), 0)
        if not self._deltas:
            self._filled.clear()
        if len(self._deltas) < 2 * BATCH_MAX:
            self._has_room.set()
        return Batch(deltas, is_in_initial_list)

    def _take(self) -> list[Delta[T]]:
        count = 0
        for delta in islice(self._deltas, BATCH_MAX):
            if delta.type in _ALONE:
                # A list or resync at the front is taken alone. Behind other deltas, it waits for the next batch.
                count = count or 1
                break
            count += 1
        return [self._deltas.popleft() for _ in range(count)]

    def _put(self, delta: Delta[T]) -> None:
        self._deltas.append(delta)
        self._filled.set()
        if len(self._deltas) >= 2 * BATCH_MAX:
            self._has_room.clear()
