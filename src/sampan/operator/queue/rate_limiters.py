"""Rate limiters: how long an item that has failed waits before it is tried again.

All of them are to be used on the event loop; the token bucket takes the time from it.
Source: client-go util/workqueue/default_rate_limiters.go (1.36).
"""

import asyncio
from collections.abc import Hashable
from typing import Protocol, TypeVar

K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[K_contra]):
    """Decides how long an item has to wait. What it remembers of an item is dropped by `forget`."""

    def when(self, item: K_contra) -> float:
        """How many seconds the item has to wait; asking counts as one more failure."""
        ...

    def forget(self, item: K_contra) -> None:
        """The item is done with, well or for good: its failures count no more."""
        ...

    def num_requeues(self, item: K_contra) -> int:
        """How often the item has failed since it was last forgotten."""
        ...


class ItemExponentialFailureRateLimiter:
    """Each failure of an item doubles its waiting: `base_delay_s * 2 ** failures`, at most `max_delay_s`."""

    def __init__(self, base_delay_s: float = 0.005, max_delay_s: float = 1000.0) -> None:
        self._base_delay_s = base_delay_s
        self._max_delay_s = max_delay_s
        self._failures: dict[Hashable, int] = {}

    def when(self, item: Hashable) -> float:
        """Seconds to wait: 5 ms, 10 ms, 20 ms …"""
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        # A float cannot hold 2 ** 1024; long before that the waiting is at its longest.
        return min(self._base_delay_s * 2.0 ** min(failures, 1000), self._max_delay_s)

    def forget(self, item: Hashable) -> None:
        """Begin anew at the shortest waiting."""
        self._failures.pop(item, None)

    def num_requeues(self, item: Hashable) -> int:
        """How often the item has failed."""
        return self._failures.get(item, 0)


class ItemFastSlowRateLimiter:
    """The first `max_fast_attempts` failures of an item wait `fast_delay_s`, all later ones `slow_delay_s`."""

    def __init__(self, fast_delay_s: float, slow_delay_s: float, max_fast_attempts: int) -> None:
        self._fast_delay_s = fast_delay_s
        self._slow_delay_s = slow_delay_s
        self._max_fast_attempts = max_fast_attempts
        self._failures: dict[Hashable, int] = {}

    def when(self, item: Hashable) -> float:
        """Seconds to wait."""
        failures = self._failures[item] = self._failures.get(item, 0) + 1
        return self._fast_delay_s if failures <= self._max_fast_attempts else self._slow_delay_s

    def forget(self, item: Hashable) -> None:
        """Begin anew with the fast ones."""
        self._failures.pop(item, None)

    def num_requeues(self, item: Hashable) -> int:
        """How often the item has failed."""
        return self._failures.get(item, 0)


class BucketRateLimiter:
    """One token bucket for all items: `burst` at once, then `qps` a second. It knows no single items.

    Every call takes a token, if need be one of the future; what was taken is not given back.
    """

    def __init__(self, qps: float = 10.0, burst: int = 100) -> None:
        self._qps = qps
        self._burst = burst
        self._tokens = float(burst)
        self._filled_at: float | None = None

    def when(self, item: Hashable) -> float:
        """Seconds until the token that this call has taken is there."""
        now = asyncio.get_running_loop().time()
        if self._filled_at is not None:
            self._tokens = min(self._tokens + (now - self._filled_at) * self._qps, self._burst)
        self._filled_at = now
        self._tokens -= 1.0
        return 0.0 if self._tokens >= 0.0 else -self._tokens / self._qps

    def forget(self, item: Hashable) -> None:
        """Nothing to forget."""

    def num_requeues(self, item: Hashable) -> int:
        """Always 0."""
        return 0


class MaxOfRateLimiter:
    """Asks several limiters; the longest waiting counts."""

    def __init__(self, *limiters: RateLimiter[Hashable]) -> None:
        self._limiters = limiters

    def when(self, item: Hashable) -> float:
        """The longest waiting; every limiter counts the failure."""
        return max((limiter.when(item) for limiter in self._limiters), default=0.0)

    def forget(self, item: Hashable) -> None:
        """All of them forget."""
        for limiter in self._limiters:
            limiter.forget(item)

    def num_requeues(self, item: Hashable) -> int:
        """The highest count of any."""
        return max((limiter.num_requeues(item) for limiter in self._limiters), default=0)


class WithMaxWaitRateLimiter:
    """Cuts the waiting of another limiter off at `max_delay_s`."""

    def __init__(self, limiter: RateLimiter[Hashable], max_delay_s: float) -> None:
        self._limiter = limiter
        self._max_delay_s = max_delay_s

    def when(self, item: Hashable) -> float:
        """Seconds to wait, at most `max_delay_s`."""
        return min(self._limiter.when(item), self._max_delay_s)

    def forget(self, item: Hashable) -> None:
        """The other limiter forgets."""
        self._limiter.forget(item)

    def num_requeues(self, item: Hashable) -> int:
        """What the other limiter says."""
        return self._limiter.num_requeues(item)


def default_rate_limiter() -> MaxOfRateLimiter:
    """client-go's default: 5 ms doubling to 1000 s for each item, and 10 a second (100 at once) for all together."""
    return MaxOfRateLimiter(ItemExponentialFailureRateLimiter(0.005, 1000.0), BucketRateLimiter(10.0, 100))
