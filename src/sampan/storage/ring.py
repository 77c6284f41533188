"""`EventRing`: the last events of one resource, for watches that resume and lists at an older revision."""

from collections import deque
from collections.abc import Callable, Sequence

from sampan.storage.records import CacheEvent


class EventRing:
    """Buffer of at least `window_s` seconds of events, between `events_min` and `events_max` events.

    Source: apiserver storage/cacher/watch_cache.go (1.36), the dynamic history size.
    """

    __slots__ = ("_clock", "_events", "_max", "_min", "_times", "_window_s", "reaches")

    def __init__(self, window_s: float, events_min: int, events_max: int, clock: Callable[[], float]) -> None:
        self._window_s = window_s
        self._min = events_min
        self._max = events_max
        self._clock = clock
        self._events: deque[CacheEvent] = deque()
        self._times: deque[float] = deque()
        self.reaches = 0
        """The ring contains all events after this revision."""

    def __len__(self) -> int:
        return len(self._events)

    @property
    def capacity(self) -> int:
        """Present capacity in events. It grows with the number of events in the window."""
        return max(self._min, len(self._events))

    def reset(self, revision: int) -> None:
        """Drop all events and start again at a revision."""
        self._events.clear()
        self._times.clear()
        self.reaches = revision

    def extend(self, events: Sequence[CacheEvent]) -> None:
        """Append events, in revision order, and drop those that are no longer needed."""
        now = self._clock()
        self._events.extend(events)
        self._times.extend([now] * len(events))
        oldest_kept = now - self._window_s
        times = self._times
        while len(times) > self._max or (len(times) > self._min and times[0] < oldest_kept):
            times.popleft()
            # All events after the dropped one remain, so its revision is the lowest that a watch can resume from.
            self.reaches = self._events.popleft().revision

    def after(self, revision: int) -> list[CacheEvent]:
        """Return the events after the revision (>= `reaches`), in order."""
        found = self.newest_first(revision)
        found.reverse()
        return found

    def newest_first(self, revision: int) -> list[CacheEvent]:
        """Return the events after the revision (>= `reaches`), newest first."""
        found: list[CacheEvent] = []
        for event in reversed(self._events):
            if event.revision <= revision:
                break
            found.append(event)
        return found
