"""Metrics of webhooks, with the names of controller-runtime.

Source: controller-runtime pkg/webhook/{internal,admission,conversion}/metrics (0.24).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BUCKETS_S: Final = tuple(10.0**power for power in range(-8, 4))
_LIKELY_CODES: Final = ("200", "500")


class WebhookMetrics:
    """Metric families of one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._total = Counter(
            "controller_runtime_webhook_requests_total",
            "Requests, by HTTP status code",
            ("webhook", "code"),
            registry=registry,
        )
        self._latency = Histogram(
            "controller_runtime_webhook_latency_seconds",
            "Duration of requests",
            ("webhook",),
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self._in_flight = Gauge(
            "controller_runtime_webhook_requests_in_flight",
            "Requests that are being answered",
            ("webhook",),
            registry=registry,
        )
        self.panics = Counter(
            "controller_runtime_webhook_panics_total",
            "Requests whose handler raised an exception that indicates a bug",
            registry=registry,
        )
        self.conversion_panics = Counter(
            "controller_runtime_conversion_webhook_panics_total",
            "Conversions with an exception that indicates a bug",
            registry=registry,
        )

    def prepare(self, path: str) -> None:
        """Create the metrics of a webhook before its first request."""
        self._in_flight.labels(path)
        self._latency.labels(path)
        for code in _LIKELY_CODES:
            self._total.labels(path, code)

    @contextmanager
    def request(self, path: str) -> Iterator[None]:
        """Measure a request."""
        begin = perf_counter()
        with self._in_flight.labels(path).track_inprogress():
            try:
                yield
            finally:
                self._latency.labels(path).observe(perf_counter() - begin)

    def record_response(self, path: str, code: int) -> None:
        """Count a response."""
        self._total.labels(path, str(code)).inc()
