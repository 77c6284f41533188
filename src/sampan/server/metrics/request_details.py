"""Metrics that only some requests have.

Source: apiserver pkg/endpoints/metrics/metrics.go, pkg/endpoints/handlers/metrics/metrics.go (1.36).
"""

from collections.abc import Iterable

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter, Histogram
from sampan.server.instruments.removed_resources import Resources, forget_series
from sampan.server.request import Request

VALIDATION_BUCKETS = (
    0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip
_BODY_BUCKETS = tuple(50_000 + 100_000 * n for n in range(31))
_BODY_VERBS = {
    "create": "create", "update": "update", "patch": "patch", "delete": "delete",
    "deletecollection": "delete_collection",
}  # fmt: skip
_TERMINATION_LABELS = ("verb", "group", "version", "resource", "subresource", "scope", "component", "code")
_VALIDATIONS = frozenset({"", "Ignore", "Warn", "Strict"})


class RequestDetails:
    """Metrics of field validation, body sizes and terminations. Record on the event loop."""

    def __init__(self) -> None:
        self.validations = Histogram(
            "field_validation_request_duration_seconds",
            "Time to answer a request, by its parameter fieldValidation.",
            ("field_validation",),
            VALIDATION_BUCKETS,
        )
        """Requests with the parameter fieldValidation. `ServerMetrics` adds the requests without it."""
        self._bodies = Histogram(
            "apiserver_request_body_size_bytes",
            "Size of the bodies of writes in bytes.",
            ("group", "resource", "verb"),
            _BODY_BUCKETS,
        )
        self._terminations = Counter(
            "apiserver_request_terminations_total",
            "Requests that were ended before they were complete.",
            _TERMINATION_LABELS,
        )

    def validated(self, values: list[str], seconds: float) -> None:
        """Record a request with the parameter fieldValidation."""
        value = values[0] if len(values) == 1 and values[0] in _VALIDATIONS else "invalid"
        self.validations.observe((value,), seconds)

    def body(self, request: Request) -> None:
        """Record the size of a request's body."""
        verb = _BODY_VERBS.get(request.info.verb)
        if verb is not None:
            self._bodies.observe((request.info.group, request.info.resource, verb), request.body_size_bytes)

    def terminated(self, request: Request, labels: tuple[str, ...], status: int) -> None:
        """Record a terminated request. `labels` are those of its counter."""
        self._terminations.add((*labels[:1], *labels[2:-1], request.component, str(status)))

    def forget(self, removed: Resources) -> None:
        """Drop the series of removed resources."""
        forget_series(self._bodies, removed)
        forget_series(self._terminations, removed)

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        yield from self._bodies.collect()
        yield from self._terminations.collect()
