"""The metrics of work queues, with the names of client-go's.

A queue counts in plain attributes, as it works for every key; the registry's collector reads them when it is scraped.
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
"""To the last digit as Kubernetes multiplies them: a bound is known by its text."""
_BOUNDS = (*(str(bound).removesuffix(".0") for bound in _BUCKETS_S), "+Inf")
_PRIORITIES_MAX = 25
_TOO_MANY_PRIORITIES = "exceeded_cardinality_limit"
_LABELS = ("name", "controller")


class Durations:
    """A histogram of seconds, from 10 ns to 1000 s."""

    __slots__ = ("counts", "sum_s")

    def __init__(self) -> None:
        self.counts = [0] * (len(_BUCKETS_S) + 1)
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(_BUCKETS_S, seconds)] += 1
        self.sum_s += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Cumulative counts, as Prometheus wants them."""
        total = 0
        found: list[tuple[str, float]] = []
        for bound, count in zip(_BOUNDS, self.counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found


class QueueState(NamedTuple):
    """What a queue is at the moment of a scrape."""

    priorities: Iterable[int]
    """The priority of each key that is due, also of those that wait for their own processing to end."""
    running_s: Iterable[float]
    """For each key that is being processed: for how long."""


class QueueMetrics:
    """What one queue counts."""

    __slots__ = ("adds", "latency", "name", "retries", "state", "work")

    def __init__(self, name: str) -> None:
        self.name = name
        self.adds = 0
        self.retries = 0
        self.latency = Durations()
        self.work = Durations()
        self.state: Callable[[], QueueState] = lambda: QueueState((), ())


class WorkQueueMetrics:
    """The collector for all queues of one registry. Make one for a registry and give it to every queue."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._queues: dict[str, QueueMetrics] = {}
        registry.register(self)

    def of(self, name: str) -> QueueMetrics:
        """The metrics of the queue with a name; a later queue of the same name takes the place of the earlier."""
        metrics = self._queues[name] = QueueMetrics(name)
        return metrics

    def describe(self) -> list[Metric]:
        """The families, empty."""
        return list(_Families().all())

    def collect(self) -> Iterator[Metric]:
        """The families with the present figures of every queue."""
        families = _Families()
        for metrics in self._queues.values():
            families.add(metrics)
        yield from families.all()


class _Families:
    """The metric families of one scrape."""

    def __init__(self) -> None:
        self.depth = GaugeMetricFamily(
            "workqueue_depth", "Keys that are due, by queue and priority", labels=(*_LABELS, "priority")
        )
        self.adds = CounterMetricFamily("workqueue_adds", "Keys that became due", labels=_LABELS)
        self.retries = CounterMetricFamily("workqueue_retries", "Keys added with a delay", labels=_LABELS)
        self.latency = HistogramMetricFamily(
            "workqueue_queue_duration_seconds", "How long a key is due before it is taken", labels=_LABELS
        )
        self.work = HistogramMetricFamily(
            "workqueue_work_duration_seconds", "How long processing a key takes", labels=_LABELS
        )
        self.unfinished = GaugeMetricFamily(
            "workqueue_unfinished_work_seconds", "Sum of the ages of all processing under way", labels=_LABELS
        )
        self.longest = GaugeMetricFamily(
            "workqueue_longest_running_processor_seconds", "Age of the longest processing under way", labels=_LABELS
        )

    def all(self) -> tuple[Metric, ...]:
        """Every family."""
        return self.depth, self.adds, self.retries, self.latency, self.work, self.unfinished, self.longest

    def add(self, metrics: QueueMetrics) -> None:
        """Take a queue's figures in."""
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
    """How many keys each priority has; beyond 25 priorities all go under one name. Priority 0 is always told."""
    counts: dict[int, int] = {0: 0}
    for priority in priorities:
        counts[priority] = counts.get(priority, 0) + 1
    if len(counts) > _PRIORITIES_MAX:
        return {_TOO_MANY_PRIORITIES: sum(counts.values())}
    return {str(priority): count for priority, count in sorted(counts.items())}
