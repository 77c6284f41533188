"""`WatchMetrics`: what watches have sent. Source: apiserver pkg/endpoints/metrics/metrics.go (1.36)."""

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from prometheus_client.core import Metric

from sampan.server.departed import Resources, forget_series
from sampan.server.histogram import Counter, Histogram

_LABELS: Final = ("group", "version", "resource")
_SIZE_BUCKETS: Final = tuple(1024 * 2**n for n in range(8))
_LIST_BUCKETS: Final = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60)


class Chunk(NamedTuple):
    """Events that go out together."""

    data: bytes
    sizes: list[tuple[int, int]]
    """How many of them are of which size: the place of the bucket in a series, and the number."""


class Sent:
    """Of the watches of one resource: counts what they have sent."""

    def __init__(self, sizes: Histogram, values: tuple[str, ...]) -> None:
        self._buckets = sizes.buckets
        self._series = sizes.begin(values)

    def joined(self, frames: Sequence[bytes]) -> Chunk:
        """Put events into one chunk. Nothing is counted yet."""
        data, small = b"".join(frames), self._buckets[0]
        if len(data) <= small or max(map(len, frames)) <= small:
            return Chunk(data, [(1, len(frames))])
        places = Tally(bisect_left(self._buckets, len(frame)) + 1 for frame in frames)
        return Chunk(data, list(places.items()))

    def counted(self, chunk: Chunk) -> bytes:
        """What of a chunk goes out."""
        series = self._series
        series[0] += len(chunk.data)
        for place, number in chunk.sizes:
            series[place] += number
        return chunk.data


class WatchMetrics:
    """A collector for Prometheus. Recorded on the event loop."""

    def __init__(self) -> None:
        self._sizes = Histogram(
            "apiserver_watch_events_sizes", "Bytes of the events of watches.", _LABELS, _SIZE_BUCKETS
        )
        self._lists = Histogram(
            "apiserver_watch_list_duration_seconds",
            "Time until a watch that begins with a list had sent it.",
            (*_LABELS, "scope"),
            _LIST_BUCKETS,
        )

    def sent(self, group: str, version: str, resource: str) -> Sent:
        """What counts the events of a watch, bookmarks and errors among them."""
        return Sent(self._sizes, (group, version, resource))

    def listed(self, group: str, version: str, resource: str, scope: str, seconds: float) -> None:
        """A watch has sent what there was at its beginning."""
        self._lists.observe((group, version, resource, scope), seconds)

    def forget(self, departed: Resources) -> None:
        """Forget resources that are served no more."""
        forget_series(self._sizes, departed)
        forget_series(self._lists, departed)

    def collect(self) -> Iterable[Metric]:
        """For Prometheus."""
        yield from self._sizes.collect()
        yield from self._lists.collect()
        events = Counter("apiserver_watch_events_total", "Events that watches have sent.", _LABELS)
        events.counts = self._sizes.totals()
        yield from events.collect()
