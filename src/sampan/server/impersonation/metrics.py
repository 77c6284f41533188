"""`ImpersonationMetrics`: who wanted to act as somebody else, in which mode, and whether that was allowed.

Source: apiserver pkg/endpoints/filters/impersonation/metrics/metrics.go (1.36).
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import Metric

from sampan.server.histogram import Counter, Histogram

_LABELS: Final = ("mode", "decision")
_BUCKETS: Final = tuple(0.001 * 2**n for n in range(15))
_ALLOWED, _DENIED = "allowed", "denied"
_UNLIMITED: Final = "legacy"


class ImpersonationMetrics:
    """A collector for Prometheus. Recorded on the event loop."""

    def __init__(self) -> None:
        self._attempts = Histogram(
            "apiserver_impersonation_attempts_duration_seconds",
            "Time to decide whether somebody may act as somebody else.",
            _LABELS,
            _BUCKETS,
        )
        self._questions = Histogram(
            "apiserver_impersonation_authorization_attempts_duration_seconds",
            "Time of one question that was asked for that.",
            _LABELS,
            _BUCKETS,
        )

    def allowed(self, constraint: str, seconds: float) -> None:
        """Somebody may; `constraint`: the verb that allows it, "" for the old mode."""
        self._attempts.observe((_mode(constraint) if constraint else _UNLIMITED, _ALLOWED), seconds)

    def denied(self, seconds: float) -> None:
        """Somebody may not, in no mode."""
        self._attempts.observe(("", _DENIED), seconds)

    def asked(self, verb: str, seconds: float, *, allowed: bool) -> None:
        """One question, about a right to `verb`."""
        self._questions.observe((_mode(verb), _ALLOWED if allowed else _DENIED), seconds)

    def collect(self) -> Iterable[Metric]:
        """For Prometheus."""
        for name, text, histogram in (
            ("attempts_total", "Requests of those who wanted to act as somebody else.", self._attempts),
            ("authorization_attempts_total", "Questions that were asked for that.", self._questions),
        ):
            total = Counter(f"apiserver_impersonation_{name}", text, _LABELS)
            total.counts = histogram.totals()
            yield from (*histogram.collect(), *total.collect())


def _mode(verb: str) -> str:
    """Of `impersonate:MODE` and `impersonate-on:MODE:VERB`; the verb without a mode is the old one's."""
    parts = verb.split(":", 2)
    return parts[1] if len(parts) > 1 else _UNLIMITED
