"""`ReviewCache`: responses of the API server to reviews, each with its own time to live."""

import datetime as dt
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from sampan.core.time import Clock

T = TypeVar("T")


class ReviewCache(Generic[T]):
    """Cache of responses. `size_max`: maximum number of responses; the oldest ones are dropped."""

    def __init__(self, clock: Clock, size_max: int = 1024) -> None:
        self._clock = clock
        self._size_max = size_max
        self._reviews: OrderedDict[Hashable, tuple[dt.datetime, T]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return a response; None if there is none, or if it has expired."""
        until, response = self._reviews.get(key, (None, None))
        return response if until is not None and self._clock.now() < until else None

    def put(self, key: Hashable, response: T, ttl_s: float) -> None:
        """Add a response."""
        self._reviews.pop(key, None)
        self._reviews[key] = (self._clock.now() + dt.timedelta(seconds=ttl_s), response)
        if len(self._reviews) > self._size_max:
            self._reviews.popitem(last=False)
