"""Metrics of match conditions: durations, errors and exclusions.

Source: apiserver pkg/admission/metrics/metrics.go (1.36).
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter, Histogram

_PREFIX: Final = "apiserver_admission_match_condition_"
_LABELS: Final = ("name", "kind", "type", "operation")
_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)

RecordEvaluation = Callable[[float, int], None]
"""Records the seconds of an evaluation and the number of conditions that failed."""


def ignore_evaluation(seconds: float, errors: int) -> None:
    """Record nothing."""


class ConditionMetrics:
    """Prometheus collector of match conditions. Values are recorded on the event loop.

    Labels: name of the webhook or policy, its kind, the step (admit or validate), and the operation.
    """

    def __init__(self) -> None:
        self._evaluations = Histogram(
            f"{_PREFIX}evaluation_seconds", "Time to evaluate the match conditions for a request.", _LABELS, _BUCKETS
        )
        self._errors = Counter(f"{_PREFIX}evaluation_errors_total", "Match conditions that failed.", _LABELS)
        self._exclusions = Counter(f"{_PREFIX}exclusions_total", "Requests that a match condition excluded.", _LABELS)

    def recorder(self, name: str, kind: str, when: str, operation: str) -> RecordEvaluation:
        """Return the function that records evaluations under these labels."""
        return partial(self._evaluated, (name, kind, when, operation))

    def _evaluated(self, labels: tuple[str, str, str, str], seconds: float, errors: int) -> None:
        self._evaluations.observe(labels, seconds)
        if errors:
            self._errors.add(labels, errors)

    def excluded(self, name: str, when: str, operation: str) -> None:
        """Record that the conditions excluded a request from a webhook."""
        self._exclusions.add((name, "webhook", when, operation))

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        for each in (self._evaluations, self._errors, self._exclusions):
            yield from each.collect()
