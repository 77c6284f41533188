"""Retry-After of refused requests: it grows with the rate of refusals.

Source: apiserver pkg/util/flowcontrol/dropped_requests_tracker.go (1.36).
"""

from collections.abc import Callable
from typing import Final

RETRY_AFTER_MAX_S: Final = 32


class _Level:
    __slots__ = ("count", "history", "retry_after_s", "second", "updated")

    def __init__(self) -> None:
        self.second = self.count = self.updated = 0
        self.history: list[tuple[int, int]] = []
        self.retry_after_s = 1

    def record(self, second: int) -> None:
        if second == self.second:
            self.count += 1
            return
        oldest = second - min(2 * self.retry_after_s, RETRY_AFTER_MAX_S)
        self.history = [entry for entry in (*self.history, (self.second, self.count)) if entry[0] >= oldest]
        self.second, self.count = second, 1
        self._adapt(second)

    def _adapt(self, second: int) -> None:
        wait_s = self.retry_after_s
        dropped = sum(count for at, count in self.history if second - wait_s <= at < second)
        if second - self.updated >= wait_s and dropped >= 3 * wait_s:
            self.retry_after_s = min(wait_s * 2, RETRY_AFTER_MAX_S)
            self.updated = second
        elif dropped < wait_s and wait_s > 1:
            self.retry_after_s -= 1


class DroppedRequests:
    """Counters of refused requests by priority level and second."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._levels: dict[str, _Level] = {}

    def record(self, level: str) -> int:
        """Count a refused request. Return its Retry-After in seconds."""
        found = self._levels.setdefault(level, _Level())
        found.record(int(self._clock()))
        return found.retry_after_s
