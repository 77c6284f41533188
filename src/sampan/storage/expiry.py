"""`Expiry`: which rows are due to be deleted, and a timer that sees to it."""

import asyncio
import heapq
from collections.abc import Callable

_CHUNK = 500
"""Deletes in one go, so that a flood of expiring rows never holds up writers."""


class Expiry:
    """A heap of (due, key, revision).

    A row written anew meanwhile is at another revision, and its old entry means nothing.
    """

    def __init__(self, clock: Callable[[], float], interval_s: float) -> None:
        self._clock = clock
        self._interval_s = interval_s
        self._heap: list[tuple[float, str, int]] = []
        self._timer: asyncio.TimerHandle | None = None

    def due_at(self, ttl_s: int) -> float:
        """When a row that is written now expires (seconds since the epoch; 0: never)."""
        return self._clock() + ttl_s if ttl_s > 0 else 0

    def add(self, due: float, key: str, revision: int) -> None:
        """Remember a row that expires."""
        heapq.heappush(self._heap, (due, key, revision))

    def take(self) -> list[tuple[str, int]]:
        """Rows (key, revision) that are due now; a bounded number of them."""
        now = self._clock()
        taken: list[tuple[str, int]] = []
        while self._heap and self._heap[0][0] <= now and len(taken) < _CHUNK:
            _, key, revision = heapq.heappop(self._heap)
            taken.append((key, revision))
        return taken

    def start(self, expire: Callable[[], object]) -> None:
        """Call `expire` at every interval, until `stop`."""

        def tick() -> None:
            self._timer = asyncio.get_running_loop().call_later(self._interval_s, tick)
            if self._heap:
                expire()

        self._timer = asyncio.get_running_loop().call_later(self._interval_s, tick)

    def stop(self) -> None:
        """No more ticks. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
