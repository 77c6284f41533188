"""Metrics of a client, with client-go's names.

They are read from the client's counters when the registry is scraped.
"""

from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from sampan.client.transports.request_counts import DURATION_BUCKETS, RequestCounts


class ClientCollector:
    """Collector for the requests of one client."""

    def __init__(self, registry: CollectorRegistry, counts: RequestCounts) -> None:
        self._counts = counts
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the families with the current values."""
        counts = self._counts
        requests = CounterMetricFamily(
            "rest_client_requests_total", "Requests, by status code", labels=["code", "method", "host"]
        )
        for (code, method), count in counts.requests.items():
            requests.add_metric([code, method, counts.host], count)
        yield requests
        durations = HistogramMetricFamily(
            "rest_client_request_duration_seconds", "Time until the response began", labels=["verb", "host"]
        )
        bounds = [*(f"{bound:g}" for bound in DURATION_BUCKETS), "+Inf"]
        for method, series in counts.durations.items():
            buckets = list(zip(bounds, accumulate(series[1:]), strict=True))
            durations.add_metric([method, counts.host], buckets, series[0])
        yield durations
