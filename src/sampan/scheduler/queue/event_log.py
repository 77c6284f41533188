"""`EventLog`: what happened in the cluster while Pods were being tried.

A Pod that was found unschedulable looks here whether something has happened meanwhile that it did not see.
Source: backend/queue/active_queue.go `inFlightEvents` (1.36).
"""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from sampan.scheduler.framework.plugin import ClusterEvent


class Happening(NamedTuple):
    """An event with its object before and after."""

    event: ClusterEvent
    old: Any
    new: Any


class EventLog:
    """Remembers events for as long as a Pod is in flight that has not seen them."""

    def __init__(self) -> None:
        self._events: deque[Happening] = deque()
        self._begin = 0
        self._in_flight: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._events)

    def begin(self, uid: str) -> None:
        """A Pod is being tried from now on."""
        self._in_flight[uid] = self._begin + len(self._events)

    def add(self, happening: Happening) -> None:
        """Something has happened."""
        if self._in_flight:
            self._events.append(happening)

    def missed(self, uid: str) -> Iterator[Happening]:
        """What has happened since the Pod's try began."""
        position = self._in_flight.get(uid)
        if position is None:
            return iter(())
        return iter(list(islice(self._events, position - self._begin, None)))

    def end(self, uid: str) -> None:
        """The try is over."""
        if self._in_flight.pop(uid, None) is None:
            return
        oldest = next(iter(self._in_flight.values()), self._begin + len(self._events))
        while self._begin < oldest:
            self._events.popleft()
            self._begin += 1
