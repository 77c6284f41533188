"""Pod disruption budgets. Source: pkg/registry/policy/poddisruptionbudget, pkg/apis/policy/validation (1.36)."""

from __future__ import annotations

from typing import Final

from sampan.core.field import Path, invalid
from sampan.core.validation.names import path_segment_errors
from sampan.kinds import policy_v1
from sampan.registry.columns.cells import NAME, at, column, integer
from sampan.registry.kind import Kind
from sampan.registry.old_versions.disruption_budget import disruption_budget
from sampan.registry.rules.amounts import check_at_most_100_percent, check_int_or_percent
from sampan.registry.rules.conditions import check_conditions
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import Errors, check_label_selector, not_supported
from sampan.registry.rules.selectors import has_invalid_selector
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_STATUS = Path("status")
_POLICIES = ("AlwaysAllow", "IfHealthyBudget")


def _check_spec(spec: policy_v1.PodDisruptionBudgetSpec, errors: Errors, *, lenient: bool) -> None:
    if "minAvailable" in spec and "maxUnavailable" in spec:
        errors.append(invalid(_SPEC, spec, "minAvailable and maxUnavailable cannot be both set"))
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            check_int_or_percent(spec[name], _SPEC.child(name), errors)
            check_at_most_100_percent(spec[name], _SPEC.child(name), errors)
    check_label_selector(spec.get("selector"), _SPEC.child("selector"), errors, allow_invalid_values=lenient)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _POLICIES:
        errors.append(not_supported(_SPEC.child("unhealthyPodEvictionPolicy"), policy, _POLICIES))


class PodDisruptionBudgetStrategy(Strategy):
    """Rules of disruption budgets."""

    standard_finalizers = False
    allow_unconditional_update = False

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Check that the name is a valid path segment."""
        return path_segment_errors(name)

    def check(self, ctx: Context, obj: policy_v1.PodDisruptionBudget, errors: Errors) -> None:
        _check_spec(obj.get("spec", {}), errors, lenient=False)

    def check_update(
        self, ctx: Context, obj: policy_v1.PodDisruptionBudget, old: policy_v1.PodDisruptionBudget, errors: Errors
    ) -> None:
        """Check an update. Faults of the stored selector are tolerated."""
        lenient = has_invalid_selector(old.get("spec", {}).get("selector"))
        _check_spec(obj.get("spec", {}), errors, lenient=lenient)

    def check_status_update(
        self, ctx: Context, obj: policy_v1.PodDisruptionBudget, old: policy_v1.PodDisruptionBudget, errors: Errors
    ) -> None:
        """Check that conditions are well-formed and counters are not negative."""
        status = obj.get("status", {})
        check_conditions(status.get("conditions", ()), _STATUS.child("conditions"), errors)
        counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
        check_counts(status, counts, _STATUS, errors)


_MINIMUM: Final = at("spec", "minAvailable", default="N/A")
_MAXIMUM: Final = at("spec", "maxUnavailable", default="N/A")

KINDS: Final = (
    Kind(
        "policy",
        "poddisruptionbudgets",
        PodDisruptionBudgetStrategy(),
        old_versions={"policy/v1beta1": disruption_budget},
        columns=lambda ages: (
            NAME,
            column("Min Available", lambda obj: str(_MINIMUM(obj))),
            column("Max Unavailable", lambda obj: str(_MAXIMUM(obj))),
            integer("Allowed Disruptions", at("status", "disruptionsAllowed", default=0)),
            ages.column,
        ),
    ),
)
