"""`Backoff`: how long to wait between attempts. Plain numbers; the waiting is done by those who use it."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow. Source: apimachinery pkg/util/wait/backoff.go `Backoff` (1.36)."""

    duration_s: float
    """The first delay."""
    factor: float = 1.0
    """What each delay is multiplied by for the next."""
    jitter: float = 0.0
    """Each delay is lengthened at random by up to this part of itself."""
    steps: int | None = None
    """Attempts in all, therefore one more than delays. None: no end."""
    cap_s: float = float("inf")
    """The longest delay, before jitter."""

    def delays(self, rand: Callable[[], float] = random.random) -> Iterator[float]:
        """Seconds to wait after the first, second … failure; ends after `steps - 1` of them."""
        delay = self.duration_s
        count = 1
        while self.steps is None or count < self.steps:
            yield min(delay, self.cap_s) * (1 + self.jitter * rand())
            delay = min(delay * self.factor, self.cap_s)
            count += 1
