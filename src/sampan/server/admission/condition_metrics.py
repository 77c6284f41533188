"""`ConditionMetrics`: how long match conditions take, and what they keep from webhooks.

Source: apiserver pkg/admission/metrics/metrics.go (1.36).
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from prometheus_client.core import Metric

from sampan.server.histogram import Counter, Histogram

_PREFIX: Final = "apiserver_admission_match_condition_"
_LABELS: Final = ("name", "kind", "type", "operation")
_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25)

Told = Callable[[float, int], None]
"""Takes the seconds of an evaluation and the number of conditions that failed in it."""


def untold(seconds: float, errors: int) -> None:
    """Nobody wants to know."""


class ConditionMetrics:
    """A collector for Prometheus. Recorded on the event loop.

    Labels: the name of a webhook or a policy, which of the two it is, when it is asked, and the operation.
    """

    def __init__(self) -> None:
        self._evaluations = Histogram(
            f"{_PREFIX}evaluation_seconds", "Time to evaluate the match conditions for a request.", _LABELS, _BUCKETS
        )
        self._errors = Counter(f"{_PREFIX}evaluation_errors_total", "Match conditions that failed.", _LABELS)
        self._exclusions = Counter(f"{_PREFIX}exclusions_total", "Requests that a match condition kept away.", _LABELS)

    def told(self, name: str, kind: str, when: str, operation: str) -> Told:
        """What takes one evaluation."""
        return partial(self._evaluated, (name, kind, when, operation))

    def _evaluated(self, labels: tuple[str, str, str, str], seconds: float, errors: int) -> None:
        self._evaluations.observe(labels, seconds)
        if errors:
            self._errors.add(labels, errors)

    def excluded(self, name: str, when: str, operation: str) -> None:
        """A webhook is not asked, as its conditions say."""
        self._exclusions.add((name, "webhook", when, operation))

    def collect(self) -> Iterable[Metric]:
        """For Prometheus."""
        for each in (self._evaluations, self._errors, self._exclusions):
            yield from each.collect()
