"""`CacheCounts`: counters of a watch cache, for metrics."""

from collections.abc import Iterator
from contextlib import contextmanager

from sampan.core.clock import monotonic
from sampan.core.telemetry.durations import Durations

_WAIT_BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0)


class CacheCounts:
    """Counters. Written on the event loop, read from any thread."""

    __slots__ = (
        "begun",
        "events",
        "fetched",
        "found",
        "listed",
        "lists",
        "loads",
        "reads",
        "slow",
        "stored_lists",
        "waits",
    )

    def __init__(self) -> None:
        self.events = 0
        """Events received from the store."""
        self.loads = 0
        """Number of times that the whole resource was read from the store."""
        self.lists = self.listed = 0
        """Lists served at the current revision, and the records in them."""
        self.begun = 0
        """Objects sent to watches as their initial state."""
        self.stored_lists = self.fetched = self.found = 0
        """Lists requested from the store (initial and historical), the rows received, and the rows that matched."""
        self.waits = Durations(_WAIT_BUCKETS)
        """Seconds that reads waited because the cache was behind the store."""
        self.slow = 0
        """Watchers that were ended because they did not take their events in time."""
        self.reads = 0
        """Consistent reads: those that needed the store's newest revision and got it."""

    def stored_list(self, fetched: int, found: int) -> None:
        """Count a list that was requested from the store."""
        self.stored_lists += 1
        self.fetched += fetched
        self.found += found

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Measure the time that a read waits, also if it fails."""
        began = monotonic()
        try:
            yield
        finally:
            self.waits.observe((), monotonic() - began)

    def list(self, size: int) -> None:
        """Count a list of `size` records."""
        self.lists += 1
        self.listed += size
