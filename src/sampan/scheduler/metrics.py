"""Metrics of a scheduler, named as those of kube-scheduler.

Counts are plain attributes, because they change for every Pod. The collector reads them when /metrics is scraped.
Source: pkg/scheduler/metrics/{metrics,profile_metrics}.go, schedule_one.go (1.36).
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from sampan.scheduler.queue.queued_pod import QueuedPod
from sampan.scheduler.queue.scheduling_queue import SchedulingQueue

SCHEDULED: Final = "scheduled"
UNSCHEDULABLE: Final = "unschedulable"
ERROR: Final = "error"
SAMPLE_EVERY: Final = 10
"""Interval of the sample: one of this many attempts measures the duration of its plugins."""
_ATTEMPTS_MAX: Final = 15
_ATTEMPT_S: Final = tuple(0.001 * 2.0**power for power in range(15))
_SLI_S: Final = tuple(0.01 * 2.0**power for power in range(20))
_PLUGIN_S: Final = tuple(0.00001 * 1.5**power for power in range(20))
_TRIES: Final = (1.0, 2.0, 4.0, 8.0, 16.0)

ObservePlugin = Callable[[str, str, float], None]
"""Takes the name of a plugin, the extension point, and the duration in seconds."""


class Histogram:
    """Counts observations by size, in buckets with fixed upper bounds, for Prometheus."""

    __slots__ = ("_bounds", "_counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

    @property
    def count(self) -> int:
        """Number of values."""
        return sum(self._counts)

    def buckets(self) -> list[tuple[str, float]]:
        """Return cumulative counts in the form that Prometheus needs."""
        total, found = 0, []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found


class SchedulerMetrics:
    """Durations and counts of one scheduler's attempts, for /metrics."""

    def __init__(self) -> None:
        self.attempts: dict[tuple[str, ...], Histogram] = defaultdict(lambda: Histogram(_ATTEMPT_S))
        """Seconds from the start of an attempt to the binding or rejection, by result and profile."""
        self.algorithm = Histogram(_ATTEMPT_S)
        self.sli: dict[tuple[str, ...], Histogram] = defaultdict(lambda: Histogram(_SLI_S))
        """Seconds from a Pod's first attempt to its binding, by the number of attempts."""
        self.tries = Histogram(_TRIES)
        self.plugins: dict[tuple[str, ...], Histogram] = defaultdict(lambda: Histogram(_PLUGIN_S))
        """Duration of plugins in seconds, by plugin and extension point."""
        self.preemptions = 0
        self._attempt = 0

    def began(self, queued: QueuedPod) -> ObservePlugin | None:
        """Record the start of an attempt.

        Returns the callback for durations of plugins, or None if this attempt is not in the sample.
        """
        queued.began_s = perf_counter()
        self._attempt = (self._attempt + 1) % SAMPLE_EVERY
        return self._observe_plugin if self._attempt == 1 else None

    def chosen(self, queued: QueuedPod) -> None:
        """Record that a Node was chosen, or that no Node fits."""
        self.algorithm.observe(perf_counter() - queued.began_s)

    def ended(self, queued: QueuedPod, result: str) -> None:
        """Record the end of an attempt: the Pod is bound or rejected."""
        profile = queued.pod.constraints.scheduler_name
        self.attempts[result, profile].observe(perf_counter() - queued.began_s)

    def bound(self, queued: QueuedPod, seconds: float) -> None:
        """Record a binding, with the seconds since the Pod's first attempt."""
        self.ended(queued, SCHEDULED)
        label = str(queued.attempts) if queued.attempts < _ATTEMPTS_MAX else f"{_ATTEMPTS_MAX}+"
        self.sli[(label,)].observe(seconds)
        self.tries.observe(queued.attempts)

    def _observe_plugin(self, plugin: str, point: str, seconds: float) -> None:
        self.plugins[plugin, point].observe(seconds)


class SchedulerCollector:
    """Exports the metrics of a scheduler, its queue and its cache. Registers itself."""

    def __init__(
        self,
        registry: CollectorRegistry,
        metrics: SchedulerMetrics,
        queue: SchedulingQueue,
        cache_size: Callable[[], Mapping[str, int]],
    ) -> None:
        self._metrics = metrics
        self._queue = queue
        self._cache_size = cache_size
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families with their current values."""
        yield from self._of_attempts()
        yield from self._of_queue()
        preemptions = CounterMetricFamily("scheduler_preemption_attempts", "Attempts to make room by eviction")
        preemptions.add_metric((), self._metrics.preemptions)
        yield preemptions

    def _of_attempts(self) -> Iterator[Metric]:
        metrics = self._metrics
        attempts = CounterMetricFamily(
            "scheduler_schedule_attempts", "Attempts to schedule Pods", labels=("result", "profile")
        )
        for labels, histogram in metrics.attempts.items():
            attempts.add_metric(labels, histogram.count)
        yield attempts
        duration = "Duration of an attempt, including the binding"
        yield _family(
            "scheduler_scheduling_attempt_duration_seconds", duration, ("result", "profile"), metrics.attempts
        )
        chosen = "Duration of the choice of a Node"
        yield _family("scheduler_scheduling_algorithm_duration_seconds", chosen, (), {(): metrics.algorithm})
        sli = "Seconds from the first attempt for a Pod to its binding, by number of attempts"
        yield _family("scheduler_pod_scheduling_sli_duration_seconds", sli, ("attempts",), metrics.sli)
        yield _family("scheduler_pod_scheduling_attempts", "Attempts for each bound Pod", (), {(): metrics.tries})
        plugins = "Duration of a plugin, in a sample of the attempts"
        labels_of_plugins = ("plugin", "extension_point")
        yield _family("scheduler_plugin_execution_duration_seconds", plugins, labels_of_plugins, metrics.plugins)

    def _of_queue(self) -> Iterator[Metric]:
        pending = GaugeMetricFamily("scheduler_pending_pods", "Waiting Pods, by queue", labels=("queue",))
        for part, count in self._queue.pending().items():
            pending.add_metric((part,), count)
        yield pending
        incoming = CounterMetricFamily(
            "scheduler_queue_incoming_pods", "Pods added to a queue, by event", labels=("queue", "event")
        )
        for labels, count in self._queue.incoming.items():
            incoming.add_metric(labels, count)
        yield incoming
        cache = GaugeMetricFamily("scheduler_cache_size", "Objects in the scheduler's cache", labels=("type",))
        for kind, count in self._cache_size().items():
            cache.add_metric((kind,), count)
        yield cache


def _family(name: str, help: str, labels: Sequence[str], found: Mapping[tuple[str, ...], Histogram]) -> Metric:
    family = HistogramMetricFamily(name, help, labels=labels)
    for values, histogram in found.items():
        family.add_metric(values, histogram.buckets(), histogram.sum)
    return family
