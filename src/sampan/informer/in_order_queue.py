"""`InOrderQueue`: every event, in the order of the watch, across all keys.

A list is one delta and is applied at once, so nobody sees a half-replaced store. A reflector that is ahead of its
informer by more than two batches waits; so the queue is bounded by two batches and what one read of the watch brings.
Source: client-go tools/cache/the_real_fifo.go `RealFIFO` with AtomicEvents (1.36).
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Final, Generic, TypeVar

from sampan.informer.delta import Batch, Delta, DeltaType
from sampan.informer.ref import Ref

T = TypeVar("T")

BATCH_MAX: Final = 1000
"""Deltas in one batch."""

_ALONE = frozenset({DeltaType.REPLACED_ALL, DeltaType.SYNC_ALL, DeltaType.BOOKMARK})


class InOrderQueue(Generic[T]):
    """Deltas in watch order. REPLACED_ALL, SYNC_ALL and BOOKMARK are batches of their own."""

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
        """ADDED."""
        self._populated = True
        self._put(Delta(DeltaType.ADDED, ref, ref.resource_version if ordered else ""))

    def update(self, ref: Ref[T]) -> None:
        """MODIFIED."""
        self._populated = True
        self._put(Delta(DeltaType.UPDATED, ref, ref.resource_version))

    def delete(self, ref: Ref[T]) -> None:
        """DELETED."""
        self._populated = True
        self._put(Delta(DeltaType.DELETED, ref, ref.resource_version))

    def replace(self, refs: Sequence[Ref[T]], resource_version: str) -> None:
        """A list, as one delta."""
        self._put(Delta(DeltaType.REPLACED_ALL, None, resource_version, refs))
        if not self._populated:
            self._populated = True
            self._initial_left = len(self._deltas)

    def bookmark(self, resource_version: str) -> None:
        """A version that has been reached, as one delta."""
        self._put(Delta(DeltaType.BOOKMARK, None, resource_version))

    def resync(self) -> None:
        """A look at everything, as one delta. It comes behind all that is queued, so no state is told twice."""
        self._put(Delta(DeltaType.SYNC_ALL))

    async def room(self) -> None:
        """Wait until there are fewer than two batches."""
        await self._has_room.wait()

    def has_synced(self) -> bool:
        """Whether the first list has been taken out (or single events came first)."""
        return self._populated and self._initial_left == 0

    async def pop_batch(self) -> Batch[T]:
        """Up to `BATCH_MAX` events, or one list, resync or bookmark."""
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
                count = count or 1
                break
            count += 1
        return [self._deltas.popleft() for _ in range(count)]

    def _put(self, delta: Delta[T]) -> None:
        self._deltas.append(delta)
        self._filled.set()
        if len(self._deltas) >= 2 * BATCH_MAX:
            self._has_room.clear()
