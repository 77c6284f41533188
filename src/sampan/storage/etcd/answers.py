"""`Answers`: what etcd's answers to this store's own writes tell of events, before the watch does.

An answer has the write's revision and the row before it: all that an event has. Each write has a revision, and none is
left out. So the event whose revision follows the last one that was handed on is the next one, whoever tells of it.

While all that is written is written by this store, the watch tells nothing new, at the price of a message for each
write. When that is much (`often`) it is cheaper to do without, until something is missing.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from sampan.storage.store import StoreEvent

MANY: Final = 100
MANY_S: Final = 0.25
"""So many answers in this time make the watch dearer than its end and its new beginning."""


class Answers:
    """The events that answers have told of and that are not handed on yet. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.often = asyncio.Event()
        """Set when there were many answers in a short time. Whoever waits for it clears it."""
        self.count = 0
        """How many events were added."""
        self._clock = clock
        self._events: dict[int, StoreEvent] = {}
        self._counted, self._since = 0, clock()

    def add(self, event: StoreEvent) -> None:
        """An answer has told of this event."""
        self._events[event.revision] = event
        self.count += 1
        if self.count - self._counted >= MANY:
            now = self._clock()
            if now - self._since <= MANY_S:
                self.often.set()
            self._counted, self._since = self.count, now

    def reach(self, after: int) -> int:
        """How far those go that follow this revision one by one; `after` itself when the next one is not known."""
        while after + 1 in self._events:
            after += 1
        return after

    def take(self, after: int, until: int) -> list[StoreEvent]:
        """The events with after < revision <= until, which are all known."""
        return [self._events.pop(revision) for revision in range(after + 1, until + 1)]

    def forget(self, until: int) -> None:
        """The events up to this revision were handed on otherwise."""
        if self._events:
            for revision in [known for known in self._events if known <= until]:
                del self._events[revision]
