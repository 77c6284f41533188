"""Metrics of work queues, with the names of client-go.

A queue counts in plain attributes, because it works for any key. The collector reads them when the registry is scraped.

Source: controller-runtime pkg/internal/metrics/workqueue.go (0.24), client-go util/workqueue/metrics.go (1.36).
"""

import itertools
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

_BUCKETS_S = tuple(itertools.accumulate([1e-08] + [10.0] * 11, operator.mul))
"""Bounds as Kubernetes computes them, to the last digit: Prometheus identifies a bound by its text."""
_BOUNDS = (*(str(bound).removesuffix(".0") for bound in _BUCKETS_S), "+Inf")
_PRIORITIES_MAX = 25
_TOO_MANY_PRIORITIES = "exceeded_cardinality_limit"
_LABELS = ("name", "controller")


class Durations:
    """Histogram of seconds, from 10 ns to 1000 s."""

    __slots__ = ("counts", "sum_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(_BUCKETS_S) + 1)
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(_BUCKETS_S, seconds)] += 1
        self.sum_s += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Return the cumulative counts for Prometheus."""
        total = 0
        found: list[tuple[str, float]] = []
        for bound, count in zip(_BOUNDS, self.counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found


class QueueState(NamedTuple):
    """State of a queue at the time of a scrape."""

    priorities: Iterable[int]
    """Priority of each due key, also of those that are being processed and due again."""
    running_s: Iterable[float]
    """Processing time of each key so far."""


class QueueMetrics:
    """Counters of one queue."""

    __slots__ = ("adds", "latency", "name", "retries", "state", "work")

    def __init__(self, name: str) -> None:
        self.name = name
        self.adds = 0
        self.retries = 0
        self.latency = Durations()
        self.work = Durations()
        self.state: Callable[[], QueueState] = lambda: QueueState((), ())


class WorkQueueMetrics:
    """Collector for all queues of one registry. Create one for a registry and pass it to every queue."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._queues: dict[str, QueueMetrics] = {}
        registry.register(self)

    def of(self, name: str) -> QueueMetrics:
        """Return the metrics of the queue with this name. A later queue of the same name replaces the earlier one."""
        metrics = self._queues[name] = QueueMetrics(name)
        return metrics

    def queues(self) -> tuple[QueueMetrics, ...]:
        """Return what the debugging report shows of each queue: depth, oldest item, totals."""
        return tuple(self._queues.values())

    def describe(self) -> list[Metric]:
        """Return the metric families without values."""
        return list(_Families().all())

    def collect(self) -> Iterator[Metric]:
        """Yield the families with the current values of every queue."""
        families = _Families()
        for metrics in self._queues.values():
            families.add(metrics)
        yield from families.all()


class _Families:
    """Metric families of one scrape."""

    def __init__(self) -> None:
        self.depth = GaugeMetricFamily(
            "workqueue_depth", "Keys that are due, by queue and priority", labels=(*_LABELS, "priority")
        )
        self.adds = CounterMetricFamily("workqueue_adds", "Keys that became due", labels=_LABELS)
        self.retries = CounterMetricFamily("workqueue_retries", "Keys added with a delay", labels=_LABELS)
        self.latency = HistogramMetricFamily(
            "workqueue_queue_duration_seconds", "Time from when a key is due until it is taken", labels=_LABELS
        )
        self.work = HistogramMetricFamily(
            "workqueue_work_duration_seconds", "Duration of the processing of a key", labels=_LABELS
        )
        self.unfinished = GaugeMetricFamily(
            "workqueue_unfinished_work_seconds", "Sum of the ages of all processing in progress", labels=_LABELS
        )
        self.longest = GaugeMetricFamily(
            "workqueue_longest_running_processor_seconds", "Age of the longest processing in progress", labels=_LABELS
        )

    def all(self) -> tuple[Metric, ...]:
        """Return every family."""
        return self.depth, self.adds, self.retries, self.latency, self.work, self.unfinished, self.longest

    def add(self, metrics: QueueMetrics) -> None:
        """Add the values of a queue."""
        labels = (metrics.name, metrics.name)
        priorities, running = metrics.state()
        running_s = list(running)
        for priority, depth in _depths(priorities).items():
            self.depth.add_metric((*labels, priority), depth)
        self.adds.add_metric(labels, metrics.adds)
        self.retries.add_metric(labels, metrics.retries)
        self.latency.add_metric(labels, metrics.latency.buckets(), metrics.latency.sum_s)
        self.work.add_metric(labels, metrics.work.buckets(), metrics.work.sum_s)
        self.unfinished.add_metric(labels, sum(running_s))
        self.longest.add_metric(labels, max(running_s, default=0.0))


def _depths(priorities: Iterable[int]) -> dict[str, int]:
    """Return the number of keys of each priority. Beyond 25 priorities all share one name. Priority 0 is always
    present.
    """
    counts: dict[int, int] = {0: 0}
    for priority in priorities:
        counts[priority] = counts.get(priority, 0) + 1
    if len(counts) > _PRIORITIES_MAX:
        return {_TOO_MANY_PRIORITIES: sum(counts.values())}
    return {str(priority): count for priority, count in sorted(counts.items())}
