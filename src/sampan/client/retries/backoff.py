"""`Backoff`: delays between attempts, in seconds. The caller waits."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing delays between attempts. Source: apimachinery pkg/util/wait/backoff.go `Backoff` (1.36)."""

    duration_s: float
    """First delay."""
    factor: float = 1.0
    """Factor by which each delay is longer than the previous one."""
    jitter: float = 0.0
    """Maximum random extension of each delay, as a fraction of it."""
    steps: int | None = None
    """Total number of attempts, one more than the number of delays. None: no limit."""
    cap_s: float = float("inf")
    """Longest delay, before jitter."""

    def delays(self, rand: Callable[[], float] = random.random) -> Iterator[float]:
        """Yield the seconds to wait after the first, second, … failure: `steps - 1` delays."""
        delay = self.duration_s
        count = 1
        while self.steps is None or count < self.steps:
            yield min(delay, self.cap_s) * (1 + self.jitter * rand())
            delay = min(delay * self.factor, self.cap_s)
            count += 1
