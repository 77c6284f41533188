"""`EventLog`: events in the cluster while Pods are being scheduled.

After a failed attempt, the queue checks here for events that happened during the attempt.
Source: backend/queue/active_queue.go `inFlightEvents` (1.36).
"""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from sampan.scheduler.framework.plugin import ClusterEvent


class RecordedEvent(NamedTuple):
    """An event with its object before and after."""

    event: ClusterEvent
    old: Any
    new: Any


class EventLog:
    """Log of events. An event is kept while a Pod that was popped before it is being scheduled."""

    def __init__(self) -> None:
        self._events: deque[RecordedEvent] = deque()
        self._begin = 0
        self._in_flight: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._events)

    def begin(self, uid: str) -> None:
        """Record the start of an attempt."""
        self._in_flight[uid] = self._begin + len(self._events)

    def add(self, event: RecordedEvent) -> None:
        """Record an event, if any Pod is being scheduled."""
        if self._in_flight:
            self._events.append(event)

    def missed(self, uid: str) -> Iterator[RecordedEvent]:
        """Return the events since the start of the Pod's attempt."""
        position = self._in_flight.get(uid)
        if position is None:
            return iter(())
        return iter(list(islice(self._events, position - self._begin, None)))

    def end(self, uid: str) -> None:
        """Record the end of an attempt, and drop events that no Pod needs any more."""
        if self._in_flight.pop(uid, None) is None:
            return
        oldest = next(iter(self._in_flight.values()), self._begin + len(self._events))
        while self._begin < oldest:
            self._events.popleft()
            self._begin += 1
