"""`AuthorizationMetrics`: requests to authorization webhooks, and their match conditions.

Source: apiserver pkg/authorization/{metrics,cel}/metrics.go, plugin/pkg/authorizer/webhook/metrics (1.36).
"""

from collections.abc import Iterable
from typing import Final

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter, Histogram

_PREFIX: Final = "apiserver_authorization_"
_AUTHORIZER: Final = ("type", "name")
_WEBHOOK: Final = ("name", "result")
_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class AuthorizationMetrics:
    """Prometheus collector of authorization webhooks. Labels are type and name of an authorizer, and the `result` of a
    webhook request.
    """

    def __init__(self) -> None:
        self.conditions = Histogram(
            f"{_PREFIX}match_condition_evaluation_seconds",
            "Duration of the evaluation of match conditions.",
            _AUTHORIZER,
            (0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25),
        )
        self.condition_errors = Counter(
            f"{_PREFIX}match_condition_evaluation_errors_total", "Evaluations with an error.", _AUTHORIZER
        )
        self.exclusions = Counter(
            f"{_PREFIX}match_condition_exclusions_total", "Requests that a match condition excludes.", _AUTHORIZER
        )
        self.webhooks = Histogram(
            f"{_PREFIX}webhook_duration_seconds", "Duration of webhook requests.", _WEBHOOK, _BUCKETS
        )
        self.fail_open = Counter(
            f"{_PREFIX}webhook_evaluations_fail_open_total",
            "Requests that continued after a failure of the webhook.",
            _WEBHOOK,
        )

    def collect(self) -> Iterable[Metric]:
        """Yield the metric families for Prometheus."""
        evaluations = Counter(f"{_PREFIX}webhook_evaluations_total", "Webhook requests.", _WEBHOOK)
        for values, count in self.webhooks.totals().items():
            evaluations.add(values, count)
        counters = (self.condition_errors, self.exclusions, self.fail_open, evaluations)
        for each in (*counters, self.conditions, self.webhooks):
            yield from each.collect()
