"""`Wakes`: when the watchers of a cache are woken for what was written.

To wake a watcher costs much more than to give it another event: it is a write to a client. So many watchers are woken
together and not often, and take many events each; few of them are woken soon.
"""

import asyncio
from typing import Final, Protocol

from sampan.storage.idle import when_idle

WAKE_INTERVAL_S = 0.010
"""Many watchers are woken so often at most."""
_PAUSE_S: Final = 0.002
_EACH_S = 0.0002
"""The time between two wakes, and by how much it grows with each watcher. A client, too, has less work with many events
that come together.
"""
_TIMER_MIN_S: Final = 0.001
"""What is shorter cannot be timed."""
_QUIET_S = 0.050
"""After so long without an event the next one is told at once."""
_GATHER_S = 0.002
"""After so long without another event there are likely to be no more of the writes that are under way together."""
_IDLE_WITHIN_S: Final = 0.006
"""How long requests go before watchers, for whom there is time while writes are under way in an engine elsewhere."""


class Wakeable(Protocol):
    """A watcher."""

    def wake(self) -> None: ...


class Wakes:
    """Wakes watchers at once when it was quiet; else together, not too soon after the last time, when no more events
    come, which is waited for as long again at most, and when no requests wait.

    Under load a watcher so takes many events in one write, instead of one write for each commit, and the writes of
    further requests are under way in the engine while watchers are told.
    """

    def __init__(self) -> None:
        self._wanting: list[Wakeable] = []
        self._scheduled = False
        self._woken_at = self._since = self._event_at = 0.0
        self._interval_s = self._gather_s = 0.0

    def add(self, watcher: Wakeable) -> None:
        """It has something to take. Whoever adds calls `events_came` then."""
        self._wanting.append(watcher)

    def events_came(self) -> None:
        """All watchers that have something to take were added."""
        if not self._wanting:
            return
        now = self._event_at = asyncio.get_running_loop().time()
        if self._scheduled:
            return
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
        watchers, self._wanting = self._wanting, []
        for watcher in watchers:
            watcher.wake()
