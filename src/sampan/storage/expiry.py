"""`Expiry`: rows with a time to live, and the timer that deletes them."""

import asyncio
import heapq
from collections.abc import Callable

_CHUNK = 500
"""Deletions in one batch, so that many expiring rows do not block writers."""


class Expiry:
    """Heap of (due, key, revision).

    A row that was written again has another revision. Its old entry then deletes nothing.
    """

    def __init__(self, clock: Callable[[], float], interval_s: float) -> None:
        self._clock = clock
        self._interval_s = interval_s
        self._heap: list[tuple[float, str, int]] = []
        self._timer: asyncio.TimerHandle | None = None

    def due_at(self, ttl_s: int) -> float:
        """Return the time at which a row written now expires, in seconds since the epoch; 0: never."""
        return self._clock() + ttl_s if ttl_s > 0 else 0

    def add(self, due: float, key: str, revision: int) -> None:
        """Add a row that expires."""
        heapq.heappush(self._heap, (due, key, revision))

    def take(self) -> list[tuple[str, int]]:
        """Remove and return a bounded number of due rows, as (key, revision)."""
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
        """Stop the timer. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
