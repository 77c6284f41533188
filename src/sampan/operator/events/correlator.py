"""`EventCorrelator`: detects repeated events and spam.

It does no I/O; the time is a parameter. Each of its three caches is bounded: it drops expired entries, and the least
recently used entry when it is full. The caches contain digests of events, because 4096 events with all their texts
would take tens of megabytes.

Source: client-go tools/record/events_cache.go (1.36).
"""

import datetime as dt
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from sampan.operator.events.event import Event, event_name, shortened

V = TypeVar("V")

_MEMORY_MAX: Final = 4096
_SPAM_BURST: Final = 25
_SPAM_PER_S: Final = 1 / 300
_SIMILAR_MAX: Final = 10
_SIMILAR_INTERVAL_S: Final = 600.0
_SERIES_S: Final = 3600.0
"""Time in seconds after which a series without new events is dropped. The server has removed its Event by then."""
_COMBINED: Final = "(combined from similar events): "


@dataclass(slots=True)
class Series:
    """Count of identical events."""

    name: str
    """Name of the Event object."""
    first: dt.datetime
    last: dt.datetime
    count: int = 1
    posted: bool = False
    """True if the server has stored the event."""


@dataclass(slots=True)
class Sighting:
    """An event with the time of its first occurrence and its series."""

    event: Event
    series: Series


@dataclass(slots=True)
class _Similar:
    seen_at: float
    notes: dict[bytes, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Bucket:
    filled_at: float
    tokens: float = float(_SPAM_BURST)

    def tokens_at(self, now: float) -> float:
        return min(self.tokens + (now - self.filled_at) * _SPAM_PER_S, _SPAM_BURST)


class _Memory(OrderedDict[bytes, V], Generic[V]):
    """Bounded memory of the last used values, by the digests of their keys."""

    def recall(self, key: bytes) -> V | None:
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value

    def keep(self, key: bytes, value: V) -> V:
        self[key] = value
        if len(self) > _MEMORY_MAX:
            self.popitem(last=False)
        return value

    def drop_while(self, is_over: Callable[[V], bool]) -> None:
        """Drop the least recently used values while `is_over` returns true."""
        while self and is_over(next(iter(self.values()))):
            self.popitem(last=False)


class EventCorrelator:
    """Reduces the load of repeated events.

    - An identical event raises the count of the first.
    - From the tenth note in ten minutes on, events that differ only in the note become one "combined" event.
    - A controller may post 25 events about one object, and then one every five minutes. More are only counted.
    """

    def __init__(self) -> None:
        self._series: _Memory[Series] = _Memory()
        self._similar: _Memory[_Similar] = _Memory()
        self._buckets: _Memory[_Bucket] = _Memory()
        self._named_ns = 0

    def correlate(self, event: Event, now: float) -> Sighting | None:
        """Return the event to post; None if no event must be posted. `now` is in seconds of a monotonic clock."""
        event, key = self._aggregate(replace(event, note=shortened(event.note)), now)
        digest = _digest(key)
        series = self._series.recall(digest)
        if series is None:
            self._series.drop_while(lambda each: (event.time - each.last).total_seconds() > _SERIES_S)
            series = self._series.keep(digest, Series(self._new_name(event), event.time, event.time))
        else:
            series.count += 1
            series.last = event.time
            event = replace(event, time=series.first)
        return Sighting(event, series) if self._is_allowed(event, now) else None

    def _new_name(self, event: Event) -> str:
        """Return a new name. Clocks are coarser than names, and two names must never be equal."""
        # Two events within a microsecond would get the same name, and the second create would fail with 409.
        self._named_ns = max(int(event.time.timestamp() * 1_000_000) * 1000, self._named_ns + 1)
        return event_name(event.regarding, self._named_ns)

    def _aggregate(self, event: Event, now: float) -> tuple[Event, tuple[object, ...]]:
        key = event.aggregate_key()
        digest = _digest(key)
        similar = self._similar.recall(digest)
        if similar is None or now - similar.seen_at > _SIMILAR_INTERVAL_S:
            similar = self._similar.keep(digest, _Similar(now))
            self._similar.drop_while(lambda each: now - each.seen_at > _SIMILAR_INTERVAL_S)
        similar.seen_at = now
        similar.notes[_digest(event.note)] = None
        if len(similar.notes) < _SIMILAR_MAX:
            return event, event.key()
        # The set stays just below its maximum: more notes than that need not be distinguished.
        similar.notes.popitem()
        return replace(event, note=shortened(_COMBINED + event.note), related=None), key

    def _is_allowed(self, event: Event, now: float) -> bool:
        key = _digest(event.spam_key())
        bucket = self._buckets.recall(key)
        if bucket is None:
            # A full bucket equals a new one, so it need not be stored.
            self._buckets.drop_while(lambda each: each.tokens_at(now) >= _SPAM_BURST)
            bucket = self._buckets.keep(key, _Bucket(now))
        # Refilled on use, from the passed time, so no task or timer is needed for each object.
        bucket.tokens, bucket.filled_at = bucket.tokens_at(now), now
        if bucket.tokens < 1.0:
            return False
        bucket.tokens -= 1.0
        return True


def _digest(key: object) -> bytes:
    return hashlib.blake2b(repr(key).encode(errors="surrogatepass"), digest_size=16).digest()
