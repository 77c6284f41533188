"""Metrics of unavailable APIServices, under the names that Kubernetes alerts use.

Source: kube-aggregator pkg/controllers/status/metrics/metrics.go (1.36).
"""

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily, Metric

from sampan.server.aggregation.api_services import ApiServices
from sampan.server.aggregation.availability import AvailabilityResult
from sampan.server.instruments.histogram import Counter


class AggregationMetrics:
    """Metrics of availability. Record on the event loop."""

    def __init__(self, api_services: ApiServices) -> None:
        self._api_services = api_services
        self._lost = Counter(
            "aggregator_unavailable_apiservice_total",
            "Times that an APIService became unavailable, by reason.",
            ("name", "reason"),
        )

    def judged(self, name: str, result: AvailabilityResult, *, was_available: bool) -> None:
        """Count an APIService that has become unavailable."""
        if was_available and not result.available:
            self._lost.add((name, result.reason))

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        unavailable = GaugeMetricFamily(
            "aggregator_unavailable_apiservice", "1: the APIService is not available; 0: it is.", labels=["name"]
        )
        for each in list(self._api_services.present().values()):
            unavailable.add_metric([each.name], 0 if each.available else 1)
        yield unavailable
        yield from self._lost.collect()
