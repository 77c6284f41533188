"""Metrics of admission: durations and refusals of plug-ins, webhooks and policies.

Source: apiserver pkg/admission/metrics/metrics.go (1.36).
"""

from collections.abc import Callable, Iterable

from prometheus_client.core import Metric

from sampan.server.admission.metrics.conditions import ConditionMetrics
from sampan.server.admission.metrics.pod_security import PodSecurityMetrics
from sampan.server.admission.metrics.policies import PolicyMetrics
from sampan.server.instruments.histogram import Counter, Histogram

_PREFIX = "apiserver_admission_"
_CODE_MAX = 600
_STEP_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
_HOOK_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0)


class AdmissionMetrics:
    """Metrics of admission. Record on the event loop. Labels come from configurations, not from clients."""

    def __init__(self) -> None:
        self.steps = Histogram(
            f"{_PREFIX}step_admission_duration_seconds",
            "Time that all mutating or all validating plug-ins took for a request.",
            ("type", "operation", "rejected"),
            _STEP_BUCKETS,
        )
        self.plugins = Histogram(
            f"{_PREFIX}controller_admission_duration_seconds",
            "Time that a plug-in took for a request.",
            ("name", "type", "operation", "rejected"),
            _STEP_BUCKETS,
        )
        self.hooks = Histogram(
            f"{_PREFIX}webhook_admission_duration_seconds",
            "Time that an admission webhook took.",
            ("name", "type", "operation", "rejected"),
            _HOOK_BUCKETS,
        )
        self.requests = Counter(
            f"{_PREFIX}webhook_request_total",
            "Calls of admission webhooks.",
            ("name", "type", "operation", "code", "rejected"),
        )
        self.rejections = Counter(
            f"{_PREFIX}webhook_rejection_count",
            "Requests that admission webhooks refused.",
            ("name", "type", "operation", "error_type", "rejection_code"),
        )
        self.failed_open = Counter(
            f"{_PREFIX}webhook_fail_open_count",
            "Calls of admission webhooks whose failure was ignored.",
            ("name", "type"),
        )
        self.conditions = ConditionMetrics()
        self.policies = PolicyMetrics()
        self.pod_security = PodSecurityMetrics()

    def observe_step(self, kind: str, operation: str, seconds: float, rejected: bool) -> None:
        """Record the mutating (admit) or validating (validate) step of a request."""
        self.steps.observe((kind, operation, "true" if rejected else "false"), seconds)

    def plugin(self, name: str, kind: str, operation: str, *, rejected: bool) -> Callable[[float], None]:
        """Return the function that records durations of a plug-in."""
        return self.plugins.observer((name, kind, operation, "true" if rejected else "false"))

    def observe_hook(self, hook: tuple[str, str, str], seconds: float, code: int, *, rejected: bool) -> None:
        """Record a webhook call. `hook` is name, type (admit or validating) and operation."""
        shown = "true" if rejected else "false"
        self.hooks.observe((*hook, shown), seconds)
        self.requests.add((*hook, str(min(code, _CODE_MAX)), shown))

    def observe_rejection(self, hook: tuple[str, str, str], error_type: str, code: int) -> None:
        """Record a refusal. `error_type` is calling_webhook_error, apiserver_internal_error or no_error."""
        self.rejections.add((*hook, error_type, str(min(code, _CODE_MAX))))

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        collectors = (
            *(self.steps, self.plugins, self.hooks, self.requests, self.rejections, self.failed_open),
            self.conditions,
            self.policies,
            self.pod_security,
        )
        for collector in collectors:
            yield from collector.collect()
        yield self.steps.summary(f"{self.steps.name}_summary")
