"""`Heap`: priority queue of Pods, from which any Pod can be removed."""

import heapq
import itertools
from collections.abc import Iterator
from typing import Any

from sampan.scheduler.queue.queued_pod import QueuedPod


class Heap:
    """Priority queue with at most one entry per Pod.

    A removed Pod leaves a dead entry in the list, which `first` skips.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[Any, int, QueuedPod]] = []
        self._live: dict[str, tuple[int, QueuedPod]] = {}
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, uid: str) -> bool:
        return uid in self._live

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter([queued for _, queued in self._live.values()])

    def put(self, queued: QueuedPod, order: Any) -> None:
        """Add a Pod, or change its order."""
        number = next(self._numbers)
        self._live[queued.pod.uid] = (number, queued)
        heapq.heappush(self._entries, (order, number, queued))

    def get(self, uid: str) -> QueuedPod | None:
        """Return a Pod, or None."""
        entry = self._live.get(uid)
        return None if entry is None else entry[1]

    def first(self) -> tuple[Any, QueuedPod] | None:
        """Return the first Pod and its order without removing it."""
        entries = self._entries
        while entries:
            order, number, queued = entries[0]
            # The entry is dead if the Pod was removed, or added again under another number.
            live = self._live.get(queued.pod.uid)
            if live is not None and live[0] == number:
                return order, queued
            heapq.heappop(entries)
        return None

    def pop(self) -> QueuedPod | None:
        """Remove and return the first Pod."""
        found = self.first()
        if found is None:
            return None
        heapq.heappop(self._entries)
        del self._live[found[1].pod.uid]
        return found[1]

    def remove(self, uid: str) -> QueuedPod | None:
        """Remove a Pod."""
        entry = self._live.pop(uid, None)
        return None if entry is None else entry[1]
