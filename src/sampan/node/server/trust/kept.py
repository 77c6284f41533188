"""`Kept`: answers of the API server that are asked for again and again, each for as long as it may be trusted."""

import datetime as dt
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from sampan.core.time import Clock

T = TypeVar("T")


class Kept(Generic[T]):
    """At most so many answers; the oldest go first."""

    def __init__(self, clock: Clock, size_max: int = 1024) -> None:
        self._clock = clock
        self._size_max = size_max
        self._answers: OrderedDict[Hashable, tuple[dt.datetime, T]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """An answer that still counts."""
        until, answer = self._answers.get(key, (None, None))
        return answer if until is not None and self._clock.now() < until else None

    def put(self, key: Hashable, answer: T, ttl_s: float) -> None:
        """Keep an answer."""
        self._answers.pop(key, None)
        self._answers[key] = (self._clock.now() + dt.timedelta(seconds=ttl_s), answer)
        if len(self._answers) > self._size_max:
            self._answers.popitem(last=False)
