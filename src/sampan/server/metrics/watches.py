"""Metrics of watches. Source: apiserver pkg/endpoints/metrics/metrics.go (1.36)."""

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter, Histogram
from sampan.server.instruments.removed_resources import Resources, forget_series

_LABELS: Final = ("group", "version", "resource")
_SIZE_BUCKETS: Final = tuple(1024 * 2**n for n in range(8))
_LIST_BUCKETS: Final = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60)


class Chunk(NamedTuple):
    """Events that are sent together."""

    data: bytes
    sizes: list[tuple[int, int]]
    """Number of events by size: pairs of a bucket's index and a count."""


class Sent:
    """Counter of the events that the watches of one resource have sent."""

    def __init__(self, sizes: Histogram, values: tuple[str, ...]) -> None:
        self._buckets = sizes.buckets
        self._series = sizes.begin(values)

    def joined(self, frames: Sequence[bytes]) -> Chunk:
        """Join events to one chunk, without counting them."""
        data, small = b"".join(frames), self._buckets[0]
        if len(data) <= small or max(map(len, frames)) <= small:
            return Chunk(data, [(1, len(frames))])
        places = Tally(bisect_left(self._buckets, len(frame)) + 1 for frame in frames)
        return Chunk(data, list(places.items()))

    def counted(self, chunk: Chunk) -> bytes:
        """Count the events of a chunk, and return its bytes."""
        series = self._series
        series[0] += len(chunk.data)
        for place, number in chunk.sizes:
            series[place] += number
        return chunk.data


class WatchMetrics:
    """Prometheus collector of watches. Values are recorded on the event loop."""

    def __init__(self) -> None:
        self._sizes = Histogram(
            "apiserver_watch_events_sizes", "Size of the events of watches in bytes.", _LABELS, _SIZE_BUCKETS
        )
        self._lists = Histogram(
            "apiserver_watch_list_duration_seconds",
            "Time until the list at the start of a watch was sent.",
            (*_LABELS, "scope"),
            _LIST_BUCKETS,
        )

    def sent(self, group: str, version: str, resource: str) -> Sent:
        """Return the counter for the events of a watch, including bookmarks and errors."""
        return Sent(self._sizes, (group, version, resource))

    def listed(self, group: str, version: str, resource: str, scope: str, seconds: float) -> None:
        """Record that a watch has sent its initial events."""
        self._lists.observe((group, version, resource, scope), seconds)

    def forget(self, removed: Resources) -> None:
        """Drop the series of removed resources."""
        forget_series(self._sizes, removed)
        forget_series(self._lists, removed)

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        yield from self._sizes.collect()
        yield from self._lists.collect()
        events = Counter("apiserver_watch_events_total", "Events that watches have sent.", _LABELS)
        events.counts = self._sizes.totals()
        yield from events.collect()
