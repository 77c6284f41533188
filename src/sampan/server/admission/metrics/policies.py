"""Metrics of admission policies: durations and results of their expressions.

Source: apiserver pkg/admission/plugin/policy/{validating,mutating}/metrics (1.36).
"""

from collections.abc import Iterable

from prometheus_client.core import Metric

from sampan.server.instruments.histogram import Counter, Histogram

_BUCKETS = (0.0000005, 0.001, 0.01, 0.1, 1.0)
_MUTATION_LABELS = ("policy", "policy_binding", "error_type")
_VALIDATION_LABELS = (*_MUTATION_LABELS, "enforcement_action")
_VALIDATING = "apiserver_validating_admission_policy_check_"
_MUTATING = "apiserver_mutating_admission_policy_check_"


def type_of_failure(text: str) -> str:
    """Return the error type of a failed expression, from its message."""
    if text.startswith("compilation"):
        return "compile_error"
    budget = "validation failed due to running out of cost budget"
    return "out_of_budget" if text.startswith(budget) else "invalid_error"


class PolicyMetrics:
    """Metrics of policies. Record on the event loop."""

    def __init__(self) -> None:
        self._validations = Histogram(
            f"{_VALIDATING}duration_seconds", "Time that a validation of a policy took.", _VALIDATION_LABELS, _BUCKETS
        )
        self._mutations = Histogram(
            f"{_MUTATING}duration_seconds", "Time that a mutation of a policy took.", _MUTATION_LABELS, _BUCKETS
        )

    def validated(self, labels: tuple[str, str, str, str], seconds: float) -> None:
        """Record a check. Labels: policy, binding, error type, and the action (allow, deny, audit, warn)."""
        self._validations.observe(labels, seconds)

    def mutated(self, labels: tuple[str, str, str], seconds: float) -> None:
        """Record a mutation. Labels: policy, binding and error type."""
        self._mutations.observe(labels, seconds)

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        for name, text, histogram in (
            (_VALIDATING, "Checks of validating admission policies, by the action that followed.", self._validations),
            (_MUTATING, "Mutations of mutating admission policies.", self._mutations),
        ):
            checks = Counter(f"{name}total", text, histogram.labels)
            checks.counts = histogram.totals()
            yield from (*histogram.collect(), *checks.collect())
