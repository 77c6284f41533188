"""`Expiry`: rows with a time to live, and the timer that deletes them."""

import asyncio
import heapq
from collections.abc import Callable

_CHUNK = 500
"""Deletions in one batch, so that many expiring rows do not block writers."""
_INTERVALS_MAX = 300
"""Longest time between two checks, in intervals: the wall clock may be set forward."""


class Expiry:
    """Heap of (due, key, revision).

    A row that was written again has another revision. Its old entry then deletes nothing.
    """

    def __init__(self, clock: Callable[[], float], interval_s: float) -> None:
        self._clock = clock
        self._interval_s = interval_s
        self._heap: list[tuple[float, str, int]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._expire: Callable[[], object] | None = None

    def due_at(self, ttl_s: int) -> float:
        """Return the time at which a row written now expires, in seconds since the epoch; 0: never."""
        return self._clock() + ttl_s if ttl_s > 0 else 0

    def add(self, due: float, key: str, revision: int) -> None:
        """Add a row that expires. Call it on the event loop after `start`."""
        heapq.heappush(self._heap, (due, key, revision))
        # The new row is the first to expire, so the timer is set too late.
        if self._expire is not None and self._heap[0][0] == due:
            self._set_timer()

    def copy_from(self, other: "Expiry") -> None:
        """Copy the rows of another heap."""
        self._heap = other._heap.copy()

    def take(self) -> list[tuple[str, int]]:
        """Remove and return a bounded number of due rows, as (key, revision)."""
        now = self._clock()
        taken: list[tuple[str, int]] = []
        while self._heap and self._heap[0][0] <= now and len(taken) < _CHUNK:
            _, key, revision = heapq.heappop(self._heap)
            taken.append((key, revision))
        return taken

    def start(self, expire: Callable[[], object]) -> None:
        """Call `expire` when rows are due, at most once in an interval, until `stop`. Nothing runs without rows."""
        self._expire = expire
        self._set_timer()

    def stop(self) -> None:
        """Stop the timer. Idempotent."""
        self._expire = None
        self._cancel_timer()

    def _set_timer(self) -> None:
        self._cancel_timer()
        if self._heap:
            left_s = min(self._heap[0][0] - self._clock(), self._interval_s * _INTERVALS_MAX)
            # At least one interval: rows that expire together are deleted in one batch.
            self._timer = asyncio.get_running_loop().call_later(max(left_s, self._interval_s), self._look)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        if self._expire is None:
            return
        if self._heap and self._heap[0][0] <= self._clock():
            self._expire()
        self._set_timer()
