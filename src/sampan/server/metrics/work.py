"""Metrics of the server's internal loops, under the names of client-go's work queues.

Source: component-base metrics/prometheus/workqueue/metrics.go (1.36).
"""

from collections.abc import Iterable, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from sampan.core.telemetry.durations import Durations
from sampan.core.telemetry.work import WorkMetrics
from sampan.server.instruments.histogram import cumulative

_LABELS = ("name",)


def work_families(works: Mapping[str, WorkMetrics]) -> Iterable[Metric]:
    """Return all families for Prometheus. May be called from another thread."""
    depth = GaugeMetricFamily("workqueue_depth", "Waiting items.", labels=_LABELS)
    adds = CounterMetricFamily("workqueue_adds_total", "Items that were added.", labels=_LABELS)
    retries = CounterMetricFamily("workqueue_retries_total", "Items that were tried again.", labels=_LABELS)
    unfinished = GaugeMetricFamily(
        "workqueue_unfinished_work_seconds", "Time spent so far on items that are not done.", labels=_LABELS
    )
    longest = GaugeMetricFamily(
        "workqueue_longest_running_processor_seconds",
        "Time spent so far on the item that takes longest.",
        labels=_LABELS,
    )
    waits = HistogramMetricFamily("workqueue_queue_duration_seconds", "Time that items waited.", labels=_LABELS)
    durations = HistogramMetricFamily("workqueue_work_duration_seconds", "Time that items took.", labels=_LABELS)
    for name, work in list(works.items()):
        running_s = work.running_s()
        depth.add_metric([name], work.depth)
        adds.add_metric([name], work.adds)
        retries.add_metric([name], work.retries)
        unfinished.add_metric([name], sum(running_s))
        longest.add_metric([name], max(running_s, default=0.0))
        _add(waits, name, work.waits)
        _add(durations, name, work.durations)
    return (depth, adds, retries, unfinished, longest, waits, durations)


def _add(family: HistogramMetricFamily, name: str, durations: Durations) -> None:
    series = durations.series.get(()) or [0.0] * (len(durations.buckets) + 2)
    family.add_metric([name], cumulative(durations.buckets, series[1:]), series[0])
