"""`CacheCounts`: what a watch cache counts as it works, for metrics."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sampan.core.durations import Durations

_WAIT_BUCKETS = (0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0)


class CacheCounts:
    """Plain numbers; written on the event loop, read from any thread."""

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
        """Events of the store that were taken in."""
        self.loads = 0
        """How often everything was read from the store."""
        self.lists = self.listed = 0
        """Lists that were asked for, but of older states, and the records in them."""
        self.begun = 0
        """Objects that watches were given at their beginning."""
        self.stored_lists = self.fetched = self.found = 0
        """Lists that the store was asked for, to begin with or of older states; the rows that came, and those that were
        wanted.
        """
        self.waits = Durations(_WAIT_BUCKETS)
        """How long reads waited that found the cache behind the store."""
        self.slow = 0
        """Watchers that were ended as they did not take their events in time."""
        self.reads = 0
        """Reads that had to see the store's newest revision, and did."""

    def stored_list(self, fetched: int, found: int) -> None:
        """Count a list of the store's."""
        self.stored_lists += 1
        self.fetched += fetched
        self.found += found

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Time a read's waiting, also in vain."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.waits.observe((), time.monotonic() - began)

    def list(self, size: int) -> None:
        """Count a list of so many records."""
        self.lists += 1
        self.listed += size
