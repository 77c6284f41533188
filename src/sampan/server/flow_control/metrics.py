"""Metrics of flow control, computed from its statistics at each scrape.

Source: apiserver pkg/util/flowcontrol/metrics/metrics.go (1.36).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from sampan.server.flow_control.controller import FlowController
from sampan.server.flow_control.priority_level import PriorityLevel
from sampan.server.flow_control.queues.ticket import FlowHistogram, FlowStats, Ticket
from sampan.server.flow_control.queues.usage import MEASURES
from sampan.server.instruments.histogram import cumulative
from sampan.server.metrics.server import is_mutating

_PREFIX: Final = "apiserver_flowcontrol_"
_BY_FLOW: Final = ("priority_level", "flow_schema")

_LEVEL_GAUGES: Final[dict[str, tuple[str, Callable[[PriorityLevel], float]]]] = {
    "request_concurrency_limit": ("Older name of nominal_limit_seats.", lambda level: level.nominal),
    "nominal_limit_seats": ("Configured number of seats of the level.", lambda level: level.nominal),
    "lower_limit_seats": ("Minimum number of seats of the level.", lambda level: level.lower),
    "upper_limit_seats": ("Maximum number of seats of the level.", lambda level: level.upper),
    "current_limit_seats": ("Current number of seats of the level.", lambda level: level.current),
    "target_seats": ("Target for the seats of the level.", lambda level: level.target),
    "demand_seats_high_watermark": ("Maximum demand for seats.", lambda level: level.demand.high_watermark),
    "demand_seats_average": ("Mean demand for seats.", lambda level: level.demand.average),
    "demand_seats_stdev": ("Standard deviation of the demand for seats.", lambda level: level.demand.deviation),
    "demand_seats_smoothed": ("Smoothed demand for seats.", lambda level: level.demand.smoothed),
    "current_r": ("Virtual time of the level.", lambda level: level.queue_set.r),
}
_FLOW_GAUGES: Final[dict[str, tuple[str, Callable[[FlowStats], float]]]] = {
    "current_inqueue_requests": ("Waiting requests.", lambda stats: stats.waiting),
    "current_inqueue_seats": ("Seats of the waiting requests.", lambda stats: stats.waiting_seats),
    "current_executing_requests": ("Running requests.", lambda stats: stats.executing),
    "current_executing_seats": ("Seats in use.", lambda stats: stats.executing_seats),
    "request_concurrency_in_use": ("Older name of current_executing_seats.", lambda stats: stats.executing_seats),
}
_FLOW_COUNTERS: Final[dict[str, tuple[str, Callable[[FlowStats], float]]]] = {
    "dispatched_requests_total": ("Requests that started to run.", lambda stats: stats.dispatched),
    "request_dispatch_no_accommodation_total": (
        "Times that the next request had to wait because it needs more seats.",
        lambda stats: stats.no_accommodation,
    ),
}
_FLOW_HISTOGRAMS: Final[dict[str, tuple[str, str, dict[str, Callable[[FlowStats], FlowHistogram]]]]] = {
    "request_wait_duration_seconds": (
        "Waiting time of requests.",
        "execute",
        {"true": lambda stats: stats.waits, "false": lambda stats: stats.waits_in_vain},
    ),
    "request_execution_seconds": (
        "Running time of requests; of a watch, the time until its stream begins.",
        "type",
        {"regular": lambda stats: stats.executions, "watch": lambda stats: stats.watch_executions},
    ),
    "work_estimated_seats": ("Estimated seats of requests.", "", {"": lambda stats: stats.seats}),
    "request_queue_length_after_enqueue": (
        "Length of the queue after a request was added.",
        "",
        {"": lambda stats: stats.queue_lengths},
    ),
    "watch_count_samples": ("Watches that receive the event of a write.", "", {"": lambda stats: stats.watch_counts}),
}
_USAGES: Final = {
    "demand_seats": "Nanoseconds by the ratio of the demand to the level's seats.",
    "priority_level_seat_utilization": "Nanoseconds by the ratio of used seats to the level's seats.",
    "priority_level_request_utilization": "Nanoseconds by the ratio of requests to the level's seats or queue places.",
}


class FlowControlMetrics:
    """Prometheus collector of flow control."""

    def __init__(self, controller: FlowController) -> None:
        self._controller = controller

    def collect(self) -> Iterable[Metric]:
        """Yield all metric families. May be called from another thread."""
        levels = list(self._controller.levels.values())
        for name, (text, value) in _LEVEL_GAUGES.items():
            gauge = GaugeMetricFamily(_PREFIX + name, text, labels=["priority_level"])
            for level in levels:
                gauge.add_metric([level.name], value(level))
            yield gauge
        fair = GaugeMetricFamily(_PREFIX + "seat_fair_frac", "Part of its target that each level receives.")
        fair.add_metric([], self._controller.fair_fraction)
        yield fair
        yield _in_queue(levels)
        yield from _usages(levels)
        yield from self._of_flows()

    def _of_flows(self) -> Iterator[Metric]:
        flows = list(self._controller.stats.items())
        for name, (text, value) in _FLOW_GAUGES.items():
            gauge = GaugeMetricFamily(_PREFIX + name, text, labels=_BY_FLOW)
            for key, stats in flows:
                gauge.add_metric(key, value(stats))
            yield gauge
        for name, (text, value) in _FLOW_COUNTERS.items():
            counter = CounterMetricFamily(_PREFIX + name, text, labels=_BY_FLOW)
            for key, stats in flows:
                counter.add_metric(key, value(stats))
            yield counter
        rejected = CounterMetricFamily(
            _PREFIX + "rejected_requests_total", "Refused requests.", labels=[*_BY_FLOW, "reason"]
        )
        for key, stats in flows:
            for reason, count in list(stats.rejected.items()):
                rejected.add_metric([*key, reason], count)
        yield rejected
        for name in _FLOW_HISTOGRAMS:
            yield _histogram(name, flows)


def _in_queue(levels: list[PriorityLevel]) -> GaugeMetricFamily:
    waiting = [is_mutating(ticket.request) for level in levels for ticket in _waiting(level) if ticket.request]
    family = GaugeMetricFamily("apiserver_current_inqueue_requests", "Waiting requests.", labels=["request_kind"])
    family.add_metric(["mutating"], sum(waiting))
    family.add_metric(["readOnly"], len(waiting) - sum(waiting))
    return family


def _waiting(level: PriorityLevel) -> Iterator[Ticket]:
    for queue in level.queue_set.queues():
        yield from list(queue.waiting)


def _usages(levels: list[PriorityLevel]) -> Iterable[Metric]:
    families = {
        name: HistogramMetricFamily(
            _PREFIX + name, text, labels=["priority_level", *([] if (name, "") in MEASURES else ["phase"])]
        )
        for name, text in _USAGES.items()
    }
    for level in levels:
        for (name, phase), (total, *counts) in level.queue_set.usage.read().items():
            values = [level.name, *([phase] if phase else [])]
            families[name].add_metric(values, cumulative(MEASURES[name, phase].bounds, counts), total)
    return families.values()


def _histogram(name: str, flows: list[tuple[tuple[str, str], FlowStats]]) -> HistogramMetricFamily:
    text, label, kinds = _FLOW_HISTOGRAMS[name]
    family = HistogramMetricFamily(_PREFIX + name, text, labels=[*_BY_FLOW, *([label] if label else [])])
    for key, stats in flows:
        for kind, histogram_of in kinds.items():
            found = histogram_of(stats)
            if any(found.counts):
                values = [*key, *([kind] if label else [])]
                family.add_metric(values, cumulative(found.bounds, found.counts), found.total)
    return family
