"""`RequestDetails`: what is measured of some requests only.

Source: apiserver pkg/endpoints/metrics/metrics.go, pkg/endpoints/handlers/metrics/metrics.go (1.36).
"""

from collections.abc import Iterable

from prometheus_client.core import Metric

from sampan.server.departed import Resources, forget_series
from sampan.server.histogram import Counter, Histogram
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
    """Recorded on the event loop."""

    def __init__(self) -> None:
        self.validations = Histogram(
            "field_validation_request_duration_seconds",
            "Time to answer a request, by what it wants of unknown fields.",
            ("field_validation",),
            VALIDATION_BUCKETS,
        )
        """Only of those that say it; shown by who knows all others."""
        self._bodies = Histogram(
            "apiserver_request_body_size_bytes",
            "Bytes of the bodies of writes.",
            ("group", "resource", "verb"),
            _BODY_BUCKETS,
        )
        self._terminations = Counter(
            "apiserver_request_terminations_total", "Requests given up before their end.", _TERMINATION_LABELS
        )

    def validated(self, said: list[str], seconds: float) -> None:
        """A request has said what it wants of unknown fields."""
        value = said[0] if len(said) == 1 and said[0] in _VALIDATIONS else "invalid"
        self.validations.observe((value,), seconds)

    def body(self, request: Request) -> None:
        """A request's body was read."""
        verb = _BODY_VERBS.get(request.info.verb)
        if verb is not None:
            self._bodies.observe((request.info.group, request.info.resource, verb), request.body_size_bytes)

    def terminated(self, request: Request, labels: tuple[str, ...], status: int) -> None:
        """A request was given up. `labels`: under which it is counted."""
        self._terminations.add((*labels[:1], *labels[2:-1], request.component, str(status)))

    def forget(self, departed: Resources) -> None:
        """Forget resources that are served no more."""
        forget_series(self._bodies, departed)
        forget_series(self._terminations, departed)

    def collect(self) -> Iterable[Metric]:
        """For Prometheus."""
        yield from self._bodies.collect()
        yield from self._terminations.collect()
