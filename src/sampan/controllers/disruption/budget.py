"""Evictions that a PodDisruptionBudget allows, as pure functions of its Pods.

Source: kube-controller-manager pkg/controller/disruption/disruption.go; component-helpers
apps/poddisruptionbudget/helpers.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.component_base.views import Pod
from sampan.controllers.status import status_of
from sampan.core.numbers.int_or_string import scaled_value
from sampan.core.time import Clock, parse_time
from sampan.kinds import policy_v1
from sampan.operator.conditions import set_condition
from sampan.resource import meta

DELETION_TIMEOUT: Final = dt.timedelta(minutes=2)
"""Time in which an evicted Pod is expected to be deleted. After it the Pod counts as healthy again."""
DISRUPTION_ALLOWED: Final = "DisruptionAllowed"


def needs_scale(spec: policy_v1.PodDisruptionBudgetSpec) -> bool:
    """Return True if the budget is relative to the desired number of Pods."""
    if spec.get("maxUnavailable") is not None:
        return True
    return isinstance(spec.get("minAvailable"), str)


def desired_healthy(spec: policy_v1.PodDisruptionBudgetSpec, expected: int) -> int:
    """Return how many of the expected Pods must be healthy, rounded up. Raises `ValueError`."""
    if spec.get("maxUnavailable") is not None:
        return max(expected - scaled_value(spec["maxUnavailable"], expected, round_up=True), 0)
    return scaled_value(spec.get("minAvailable"), expected, round_up=True)


@dataclass(frozen=True, slots=True)
class Disrupted:
    """Evicted Pods that have not been deleted yet."""

    pods: dict[str, str]
    """Time of the eviction, by the Pod's name."""
    overdue: Sequence[Pod]
    """Pods that should have been deleted by now."""
    recheck_s: float | None
    """Seconds until the first of `pods` becomes overdue."""


def disrupted(status: policy_v1.PodDisruptionBudgetStatus, pods: Sequence[Pod], now: dt.datetime) -> Disrupted:
    """Return the evicted Pods from `disruptedPods` in a status that have not been deleted yet."""
    evicted = status.get("disruptedPods") or {}
    pending: dict[str, str] = {}
    overdue: list[Pod] = []
    waits: list[float] = []
    for pod in pods:
        since = evicted.get(pod.metadata.name)
        if since is None or pod.metadata.deletion_timestamp is not None:
            continue
        wait = parse_time(since) + DELETION_TIMEOUT - now
        if wait <= dt.timedelta():
            overdue.append(pod)
        else:
            pending[pod.metadata.name] = since
            waits.append(wait.total_seconds())
    return Disrupted(pending, overdue, min(waits, default=None))


def healthy(pods: Sequence[Pod], pending: dict[str, str]) -> int:
    """Count the Pods that are ready, not being deleted and not in `pending`, the evicted Pods."""
    return sum(
        pod.is_ready and pod.metadata.deletion_timestamp is None and pod.metadata.name not in pending for pod in pods
    )


def status_after(
    budget: policy_v1.PodDisruptionBudget,
    *,
    expected: int,
    desired: int,
    healthy: int,
    pending: dict[str, str],
    clock: Clock,
) -> policy_v1.PodDisruptionBudgetStatus:
    """Compute the status of a budget.

    Without expected Pods no eviction is allowed: the first Pods could appear before the next reconciliation.
    """
    status: policy_v1.PodDisruptionBudgetStatus = status_of(budget)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    generation = meta(budget).generation
    status |= {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "disruptionsAllowed": allowed,
        "observedGeneration": generation,
    }
    if pending:
        status["disruptedPods"] = pending
    else:
        status.pop("disruptedPods", None)
    reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    _set_allowed(status, reason, "", clock)
    return status


def status_of_failure(
    budget: policy_v1.PodDisruptionBudget, message: str, clock: Clock
) -> policy_v1.PodDisruptionBudgetStatus:
    """Return the status after a failure to compute the numbers: no eviction is allowed."""
    status: policy_v1.PodDisruptionBudgetStatus = status_of(budget)
    status.setdefault("currentHealthy", 0)
    status.setdefault("desiredHealthy", 0)
    status.setdefault("expectedPods", 0)
    status["disruptionsAllowed"] = 0
    _set_allowed(status, ("False", "SyncFailed"), message, clock)
    return status


def _set_allowed(
    status: policy_v1.PodDisruptionBudgetStatus, value: tuple[str, str], message: str, clock: Clock
) -> None:
    # The condition gets its transition time below.
    condition: Any = {
        "type": DISRUPTION_ALLOWED,
        "status": value[0],
        "reason": value[1],
        "message": message,
    }
    if status.get("observedGeneration"):
        condition["observedGeneration"] = status["observedGeneration"]
    set_condition(status.setdefault("conditions", []), condition, clock)
