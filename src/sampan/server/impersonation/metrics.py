"""`ImpersonationMetrics`: attempts to impersonate users, by mode and decision.

Source: apiserver pkg/endpoints/filters/impersonation/metrics/metrics.go (1.36).
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter, Histogram

_LABELS: Final = ("mode", "decision")
_BUCKETS: Final = tuple(0.001 * 2**n for n in range(15))
_ALLOWED, _DENIED = "allowed", "denied"
_LEGACY: Final = "legacy"


class ImpersonationMetrics:
    """Prometheus collector of attempts to impersonate. Values are recorded on the event loop."""

    def __init__(self) -> None:
        self._attempts = Histogram(
            "apiserver_impersonation_attempts_duration_seconds",
            "Duration of decisions about impersonation.",
            _LABELS,
            _BUCKETS,
        )
        self._checks = Histogram(
            "apiserver_impersonation_authorization_attempts_duration_seconds",
            "Duration of one authorization during a decision about impersonation.",
            _LABELS,
            _BUCKETS,
        )

    def allowed(self, constraint: str, seconds: float) -> None:
        """Record an allowed attempt. `constraint` is the verb that allows it, "" for the legacy mode."""
        self._attempts.observe((_mode(constraint) if constraint else _LEGACY, _ALLOWED), seconds)

    def denied(self, seconds: float) -> None:
        """Record an attempt that all modes refuse."""
        self._attempts.observe(("", _DENIED), seconds)

    def checked(self, verb: str, seconds: float, *, allowed: bool) -> None:
        """Record one authorization of a `verb`."""
        self._checks.observe((_mode(verb), _ALLOWED if allowed else _DENIED), seconds)

    def collect(self) -> Iterable[Metric]:
        """Yield the metric families for Prometheus."""
        for name, text, histogram in (
            ("attempts_total", "Requests with impersonation.", self._attempts),
            ("authorization_attempts_total", "Authorizations for impersonation.", self._checks),
        ):
            total = Counter(f"apiserver_impersonation_{name}", text, _LABELS)
            total.counts = histogram.totals()
            yield from (*histogram.collect(), *total.collect())


def _mode(verb: str) -> str:
    """Return the mode of `impersonate:MODE` or `impersonate-on:MODE:VERB`. A verb without a mode is that of the legacy
    mode.
    """
    parts = verb.split(":", 2)
    return parts[1] if len(parts) > 1 else _LEGACY
