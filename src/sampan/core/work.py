"""`Work`: how a loop gets on with what it has to do, for metrics: each item waits once, is worked at, and is done.

Source: client-go util/workqueue/metrics.go (1.36).
"""

import itertools
import operator
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sampan.core.durations import Durations

_BUCKETS = list(itertools.accumulate([1e-08] + [10.0] * 9, operator.mul))
"""From 10 ns to 10 s, to the last digit as Kubernetes multiplies them: a bound is known by its text."""


class Work:
    """One loop's. Recorded on the event loop, read from any thread."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """`clock`: seconds, from any beginning."""
        self._clock = clock
        self._waiting: dict[str, float] = {}
        self._running: dict[str, float] = {}
        self.adds = 0
        self.retries = 0
        self.waits = Durations(_BUCKETS)
        self.durations = Durations(_BUCKETS)

    @property
    def depth(self) -> int:
        """How many items wait."""
        return len(self._waiting)

    def running_s(self) -> list[float]:
        """How long each item has been worked at."""
        now = self._clock()
        return [now - since for since in list(self._running.values())]

    def add(self, item: str) -> None:
        """There is something to do about an item; one that waits already is not added again."""
        if item not in self._waiting:
            self.adds += 1
            self._waiting[item] = self._clock()

    def drop(self, item: str) -> None:
        """There is nothing to do any more."""
        self._waiting.pop(item, None)

    @contextmanager
    def at(self, item: str) -> Iterator[None]:
        """Work at an item until the end of the block; it is added if it does not wait."""
        self.add(item)
        began = self._running[item] = self._clock()
        self.waits.observe((), began - self._waiting.pop(item))
        try:
            yield
        finally:
            self._running.pop(item, None)
            self.durations.observe((), self._clock() - began)
