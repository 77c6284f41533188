"""Rate limiters: delays between the failure of an item and its next attempt.

All of them must be used on the event loop; the token bucket uses its clock.

Source: client-go util/workqueue/default_rate_limiters.go (1.36).
"""

import asyncio
from collections.abc import Hashable
from typing import Protocol, TypeVar

K_contra = TypeVar("K_contra", bound=Hashable, contravariant=True)


class RateLimiter(Protocol[K_contra]):
    """Computes the delay of an item. `forget` drops the state of an item."""

    def when(self, item: K_contra) -> float:
        """Return the delay of the item in seconds. Each call counts as one more failure."""
        ...

    def forget(self, item: K_contra) -> None:
        """Reset the failures of an item after success or permanent failure."""
        ...

    def num_requeues(self, item: K_contra) -> int:
        """Return the number of failures since the item was last forgotten."""
        ...


class ItemExponentialFailureRateLimiter:
    """Doubles the delay with each failure of an item: `base_delay_s * 2 ** failures`, at most `max_delay_s`."""

    def __init__(self, base_delay_s: float = 0.005, max_delay_s: float = 1000.0) -> None:
        self._base_delay_s = base_delay_s
        self._max_delay_s = max_delay_s
        self._failures: dict[Hashable, int] = {}

    def when(self, item: Hashable) -> float:
        """Return the delay in seconds: 5 ms, 10 ms, 20 ms, …"""
        failures = self._failures.get(item, 0)
        # Grows with distinct failing items only. The controller calls `forget` after success and for deleted objects.
        self._failures[item] = failures + 1
        # A float cannot hold 2 ** 1024; the maximum is reached long before.
        return min(self._base_delay_s * 2.0 ** min(failures, 1000), self._max_delay_s)

    def forget(self, item: Hashable) -> None:
        """Start again from the shortest delay."""
        self._failures.pop(item, None)

    def num_requeues(self, item: Hashable) -> int:
        """Return the number of failures of the item."""
        return self._failures.get(item, 0)


class ItemFastSlowRateLimiter:
    """Delays the first `max_fast_attempts` failures of an item by `fast_delay_s`, later ones by `slow_delay_s`."""

    def __init__(self, fast_delay_s: float, slow_delay_s: float, max_fast_attempts: int) -> None:
        self._fast_delay_s = fast_delay_s
        self._slow_delay_s = slow_delay_s
        self._max_fast_attempts = max_fast_attempts
        self._failures: dict[Hashable, int] = {}

    def when(self, item: Hashable) -> float:
        """Return the delay in seconds."""
        failures = self._failures[item] = self._failures.get(item, 0) + 1
        return self._fast_delay_s if failures <= self._max_fast_attempts else self._slow_delay_s

    def forget(self, item: Hashable) -> None:
        """Start again with fast attempts."""
        self._failures.pop(item, None)

    def num_requeues(self, item: Hashable) -> int:
        """Return the number of failures of the item."""
        return self._failures.get(item, 0)


class BucketRateLimiter:
    """Token bucket for all items together: `burst` at once, then `qps` a second.

    Every call takes a token, possibly a future one. Tokens are not returned.
    """

    def __init__(self, qps: float = 10.0, burst: int = 100) -> None:
        self._qps = qps
        self._burst = burst
        self._tokens = float(burst)
        self._filled_at: float | None = None

    def when(self, item: Hashable) -> float:
        """Return the seconds until the token of this call is available."""
        now = asyncio.get_running_loop().time()
        if self._filled_at is not None:
            self._tokens = min(self._tokens + (now - self._filled_at) * self._qps, self._burst)
        self._filled_at = now
        self._tokens -= 1.0
        return 0.0 if self._tokens >= 0.0 else -self._tokens / self._qps

    def forget(self, item: Hashable) -> None:
        """Do nothing: there is no state for an item."""

    def num_requeues(self, item: Hashable) -> int:
        """Return 0."""
        return 0


class MaxOfRateLimiter:
    """Combines several limiters; the longest delay applies."""

    def __init__(self, *limiters: RateLimiter[Hashable]) -> None:
        self._limiters = limiters

    def when(self, item: Hashable) -> float:
        """Return the longest delay. Every limiter counts the failure."""
        return max((limiter.when(item) for limiter in self._limiters), default=0.0)

    def forget(self, item: Hashable) -> None:
        """Reset the item in all limiters."""
        for limiter in self._limiters:
            limiter.forget(item)

    def num_requeues(self, item: Hashable) -> int:
        """Return the highest count of all limiters."""
        return max((limiter.num_requeues(item) for limiter in self._limiters), default=0)


class WithMaxWaitRateLimiter:
    """Limits the delay of another limiter to `max_delay_s`."""

    def __init__(self, limiter: RateLimiter[Hashable], max_delay_s: float) -> None:
        self._limiter = limiter
        self._max_delay_s = max_delay_s

    def when(self, item: Hashable) -> float:
        """Return the delay in seconds, at most `max_delay_s`."""
        return min(self._limiter.when(item), self._max_delay_s)

    def forget(self, item: Hashable) -> None:
        """Reset the item in the other limiter."""
        self._limiter.forget(item)

    def num_requeues(self, item: Hashable) -> int:
        """Return the count of the other limiter."""
        return self._limiter.num_requeues(item)


def default_rate_limiter() -> MaxOfRateLimiter:
    """Return client-go's default: 5 ms, doubled up to 1000 s for each item, and 10 a second (burst of 100) for all
    together.
    """
    return MaxOfRateLimiter(ItemExponentialFailureRateLimiter(0.005, 1000.0), BucketRateLimiter(10.0, 100))
