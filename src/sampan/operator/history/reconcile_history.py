"""`ReconcileHistory`: the last reconciles of the objects of a manager. `ReconcileRate`: reconciles per second.

Both are bounded. An object has at most `RECORDS_MAX` records. Of the objects whose last reconcile has failed, and of
the others, `OBJECTS_MAX` each are remembered, the latest ones. So a flood of successes drops no failing object.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Final

from sampan.operator.history.reconcile_attempt import ReconcileAttempt
from sampan.operator.request import Request

RECORDS_MAX: Final = 10
OBJECTS_MAX: Final = 1024
WINDOW_S: Final = 60.0
"""Time over which rates are computed."""
_BUCKET_S: Final = 5.0

HistoryKey = tuple[str, Request]
"""Name of the controller, and object."""


class ObjectHistory:
    """Last reconciles of one object by one controller, oldest first."""

    __slots__ = ("failures", "records", "total")

    def __init__(self) -> None:
        self.records: deque[ReconcileAttempt] = deque(maxlen=RECORDS_MAX)
        self.total = 0
        """Number of reconciles since the object is remembered."""
        self.failures = 0
        """Consecutive failures."""


class ReconcileHistory:
    """Last reconciles of a manager's objects."""

    def __init__(self, *, objects_max: int = OBJECTS_MAX) -> None:
        self._objects_max = objects_max
        self._failing: OrderedDict[HistoryKey, ObjectHistory] = OrderedDict()
        self._healthy: OrderedDict[HistoryKey, ObjectHistory] = OrderedDict()
        self.revision = 0
        """Number of recorded reconciles, of those that did not begin because the object is paused, and of removals."""

    def next_attempt(self, key: HistoryKey) -> int:
        """Return the number of the next attempt since the last success."""
        found = self._failing.get(key)
        return 1 if found is None else found.failures + 1

    def add(self, key: HistoryKey, record: ReconcileAttempt) -> None:
        """Add the last attempt for an object, and drop the oldest attempts and objects above the limits."""
        self.revision += 1
        was_failing = key in self._failing
        found = (self._failing if was_failing else self._healthy).get(key)
        if found is None:
            found = ObjectHistory()
        found.total += 1
        found.records.append(record)
        found.failures = found.failures + 1 if record.error else 0
        if was_failing != bool(record.error):
            (self._failing if was_failing else self._healthy).pop(key, None)
        place = self._failing if record.error else self._healthy
        place[key] = found
        place.move_to_end(key)
        if len(place) > self._objects_max:
            place.popitem(last=False)

    def of(self, key: HistoryKey) -> ObjectHistory | None:
        """Return the reconciles of an object by a controller."""
        return self._failing.get(key) or self._healthy.get(key)

    def remove(self, key: HistoryKey) -> None:
        """Forget an object, which needs no further attempt."""
        self.revision += 1
        self._failing.pop(key, None)
        self._healthy.pop(key, None)

    def __iter__(self) -> Iterator[tuple[HistoryKey, ObjectHistory]]:
        """Yield the failing objects, then the others, those with the latest reconciles first."""
        yield from reversed(self._failing.items())
        yield from reversed(self._healthy.items())

    def __len__(self) -> int:
        return len(self._failing) + len(self._healthy)


class ReconcileRate:
    """Counts of the reconciles of one controller in the last minute."""

    __slots__ = ("_buckets", "failed", "total")

    def __init__(self) -> None:
        self._buckets: deque[list[int]] = deque(maxlen=int(WINDOW_S / _BUCKET_S) + 1)
        self.total = 0
        self.failed = 0

    def count(self, now: float, *, failed: bool) -> None:
        """Count a reconcile that ended now."""
        bucket = int(now / _BUCKET_S)
        if not self._buckets or self._buckets[-1][0] != bucket:
            self._buckets.append([bucket, 0, 0])
        last = self._buckets[-1]
        last[1] += 1
        self.total += 1
        if failed:
            last[2] += 1
            self.failed += 1

    def per_second(self, now: float) -> tuple[float, float]:
        """Return the rates of reconciles and of failures."""
        oldest = int(now / _BUCKET_S) - int(WINDOW_S / _BUCKET_S)
        recent = [bucket for bucket in self._buckets if bucket[0] > oldest]
        return sum(each[1] for each in recent) / WINDOW_S, sum(each[2] for each in recent) / WINDOW_S
