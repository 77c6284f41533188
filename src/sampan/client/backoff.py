"""`Backoff`: delays between attempts, as numbers. The caller waits."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow. Source: apimachinery pkg/util/wait/backoff.go `Backoff` (1.36)."""

    duration_s: float
    """The first delay."""
    factor: float = 1.0
    """Factor from one delay to the next."""
    jitter: float = 0.0
    """Random extension of each delay, up to this fraction of it."""
    steps: int | None = None
    """Total number of attempts, one more than the number of delays. None: no limit."""
    cap_s: float = float("inf")
    """The longest delay, before jitter."""

    def delays(self, rand: Callable[[], float] = random.random) -> Iterator[float]:
        """Yield the seconds to wait after the first, second, … failure: `steps - 1` delays."""
        delay = self.duration_s
        count = 1
        while self.steps is None or count < self.steps:
            yield min(delay, self.cap_s) * (1 + self.jitter * rand())
            delay = min(delay * self.factor, self.cap_s)
            count += 1
