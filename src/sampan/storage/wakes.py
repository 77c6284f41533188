"""`Wakes`: decides when the watchers of a cache wake up for new events.

Waking a watcher costs much more than giving it another event, because it causes a write to a client. So many watchers
wake up together and rarely, and take many events each. A few watchers wake up soon.
"""

import asyncio
from typing import Final, Protocol

from sampan.storage.idle import when_idle

WAKE_INTERVAL_S = 0.010
"""Longest interval between two wake-ups of many watchers."""
_PAUSE_S: Final = 0.002
_EACH_S = 0.0002
"""`_PAUSE_S`: shortest interval between two wake-ups.

`_EACH_S`: added to it for each watcher, as clients profit from large batches.
"""
_TIMER_MIN_S: Final = 0.001
"""Resolution of timers: a shorter delay cannot be timed."""
_QUIET_S = 0.050
"""After this time without an event, the next one is delivered at once."""
_GATHER_S = 0.002
"""After this time without another event, the concurrent writes have probably all been delivered."""
_IDLE_WITHIN_S: Final = 0.006
"""Maximum time for which requests have priority over watchers.

A remote engine processes the writes of those requests meanwhile.
"""


class Wakeable(Protocol):
    """A watcher."""

    def wake(self) -> None: ...


class Wakes:
    """Wakes watchers at once after a quiet period, otherwise together.

    A common wake-up waits for the minimum interval. Then it waits for a gap in the events, at most another interval.
    Finally it waits until the event loop is idle. So under load a watcher takes many events in one write, instead of
    one write for each commit. The engine commits the writes of further requests meanwhile.
    """

    def __init__(self) -> None:
        self._wanting: list[Wakeable] = []
        self._scheduled = False
        self._woken_at = self._since = self._event_at = 0.0
        self._interval_s = self._gather_s = 0.0

    def add(self, watcher: Wakeable) -> None:
        """Add a watcher that has events to take. The caller then calls `events_came`."""
        self._wanting.append(watcher)

    def events_came(self) -> None:
        """Schedule the wake-up, once all watchers with new events have been added."""
        if not self._wanting:
            return
        now = self._event_at = asyncio.get_running_loop().time()
        if self._scheduled:
            return
        # Under low load there is nothing to batch, so latency counts.
        if now - self._woken_at > _QUIET_S:
            self._wake()
            return
        self._scheduled, self._since = True, now
        for_all_s = len(self._wanting) * _EACH_S
        self._interval_s = min(WAKE_INTERVAL_S, _PAUSE_S + for_all_s)
        self._gather_s = min(_GATHER_S, for_all_s)
        self._look_at(max(self._woken_at + self._interval_s, now + self._gather_s))

    def _look_at(self, when: float) -> None:
        loop = asyncio.get_running_loop()
        if when - loop.time() < _TIMER_MIN_S:
            when_idle(self._wake, _IDLE_WITHIN_S)
        else:
            loop.call_at(when, self._look)

    def _look(self) -> None:
        now, gathered_at = asyncio.get_running_loop().time(), self._event_at + self._gather_s
        if now < gathered_at and now < self._since + self._interval_s:
            self._look_at(gathered_at)
        else:
            when_idle(self._wake, _IDLE_WITHIN_S)

    def _wake(self) -> None:
        self._scheduled = False
        self._woken_at = asyncio.get_running_loop().time()
        # Swap first: a woken watcher may add itself again for the next wake-up.
        watchers, self._wanting = self._wanting, []
        for watcher in watchers:
            watcher.wake()
