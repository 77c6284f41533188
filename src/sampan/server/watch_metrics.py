"""`WatchMetrics`: what watches have sent. Source: apiserver pkg/endpoints/metrics/metrics.go (1.36)."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from prometheus_client.core import Metric

from sampan.server.histogram import Counter, Histogram

_LABELS: Final = ("group", "version", "resource")
_SIZE_BUCKETS: Final = tuple(1024 * 2**n for n in range(8))
_LIST_BUCKETS: Final = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60)

Join = Callable[[Sequence[bytes]], bytes]
"""Puts the events that go out together into one chunk."""


class _Sizes(Histogram):
    """Of events that are all small nearly always."""

    def joining(self, values: tuple[str, ...]) -> Join:
        """What joins events and counts each."""
        series, buckets, small = self._begin(values), self.buckets, self.buckets[0]

        def join(frames: Sequence[bytes]) -> bytes:
            chunk = b"".join(frames)
            size = len(chunk)
            series[0] += size
            if size <= small or max(map(len, frames)) <= small:
                series[1] += len(frames)
            else:
                for frame in frames:
                    series[bisect_left(buckets, len(frame)) + 1] += 1
            return chunk

        return join


class WatchMetrics:
    """A collector for Prometheus. Recorded on the event loop."""

    def __init__(self) -> None:
        self._sizes = _Sizes("apiserver_watch_events_sizes", "Bytes of the events of watches.", _LABELS, _SIZE_BUCKETS)
        self._lists = Histogram(
            "apiserver_watch_list_duration_seconds",
            "Time until a watch that begins with a list had sent it.",
            (*_LABELS, "scope"),
            _LIST_BUCKETS,
        )

    def joining(self, group: str, version: str, resource: str) -> Join:
        """What joins the events of a watch, bookmarks and errors among them, and counts each."""
        return self._sizes.joining((group, version, resource))

    def listed(self, group: str, version: str, resource: str, scope: str, seconds: float) -> None:
        """A watch has sent what there was at its beginning."""
        self._lists.observe((group, version, resource, scope), seconds)

    def collect(self) -> Iterable[Metric]:
        """For Prometheus."""
        yield from self._sizes.collect()
        yield from self._lists.collect()
        events = Counter("apiserver_watch_events_total", "Events that watches have sent.", _LABELS)
        events.counts = self._sizes.totals()
        yield from events.collect()
