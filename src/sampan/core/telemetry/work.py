"""`WorkMetrics`: metrics of a work queue. Each item waits in the queue, is processed, and is then done.

Source: client-go util/workqueue/metrics.go (1.36).
"""

import itertools
import operator
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sampan.core.telemetry.durations import Durations

_BUCKETS = list(itertools.accumulate([1e-08] + [10.0] * 9, operator.mul))
"""Buckets from 10 ns to 10 s, multiplied as in Kubernetes: the text of a bound identifies its series."""


class WorkMetrics:
    """Metrics of one loop. They are recorded on the event loop and may be read from any thread."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """Create empty metrics. `clock` returns seconds from an arbitrary start."""
        self._clock = clock
        self._waiting: dict[str, float] = {}
        self._running: dict[str, float] = {}
        self.adds = 0
        self.retries = 0
        self.waits = Durations(_BUCKETS)
        self.durations = Durations(_BUCKETS)

    @property
    def depth(self) -> int:
        """Return the number of waiting items."""
        return len(self._waiting)

    def running_s(self) -> list[float]:
        """Return the seconds since the start of processing, for each running item."""
        now = self._clock()
        return [now - since for since in list(self._running.values())]

    def add(self, item: str) -> None:
        """Add an item to the waiting ones. Does nothing if the item is already waiting."""
        if item not in self._waiting:
            self.adds += 1
            self._waiting[item] = self._clock()

    def drop(self, item: str) -> None:
        """Remove a waiting item that needs no work any more."""
        self._waiting.pop(item, None)

    @contextmanager
    def at(self, item: str) -> Iterator[None]:
        """Mark an item as being processed until the end of the block. An item that is not waiting is added first."""
        self.add(item)
        began = self._running[item] = self._clock()
        self.waits.observe((), began - self._waiting.pop(item))
        try:
            yield
        finally:
            self._running.pop(item, None)
            self.durations.observe((), self._clock() - began)
