"""Metrics of health checks, for /metrics/slis.

Source: component-base metrics/prometheus/slis/metrics.go (1.36).
"""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

_START = "process_start_time_seconds"


class HealthMetrics:
    """Last result and number of results of each check."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], bool] = {}
        self._counts: dict[tuple[str, str, str], int] = {}

    def count(self, name: str, endpoint: str, *, passed: bool) -> None:
        """Record the result of a check at an endpoint."""
        key = (name, "success" if passed else "error", endpoint)
        self._last[name, endpoint] = passed
        self._counts[key] = self._counts.get(key, 0) + 1

    def reset(self) -> None:
        """Drop the last results, and set the counts to 0."""
        self._last.clear()
        self._counts.clear()

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        last = GaugeMetricFamily(
            "kubernetes_healthcheck", "The last result of a health check: 1 is good.", labels=("name", "type")
        )
        for key, passed in sorted(self._last.items()):
            last.add_metric(key, int(passed))
        total = CounterMetricFamily(
            "kubernetes_healthchecks_total", "Results of health checks.", labels=("name", "status", "type")
        )
        for labels, count in sorted(self._counts.items()):
            total.add_metric(labels, count)
        yield from (last, total)
        yield from (family for family in ProcessCollector(registry=None).collect() if family.name == _START)

    def exposition(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)
