"""What a PodDisruptionBudget allows: pure decisions on its Pods.

Source: kube-controller-manager pkg/controller/disruption/disruption.go; component-helpers
apps/poddisruptionbudget/helpers.go (1.36).
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.controllers.status import status_of
from sampan.core.int_or_string import scaled_value
from sampan.core.time import Clock, parse_time
from sampan.loops.views import Pod
from sampan.operator.conditions import set_condition
from sampan.resource import Object, meta

DELETION_TIMEOUT: Final = dt.timedelta(minutes=2)
"""A Pod whose eviction was allowed is taken to go within this time; after it, it counts again."""
DISRUPTION_ALLOWED: Final = "DisruptionAllowed"


def needs_scale(spec: Object) -> bool:
    """Whether the budget is relative to the number of Pods that are wanted, and not a number of them."""
    if spec.get("maxUnavailable") is not None:
        return True
    return isinstance(spec.get("minAvailable"), str)


def desired_healthy(spec: Object, expected: int) -> int:
    """How many of the expected Pods must be healthy; shares are rounded up. Raises `ValueError`."""
    if spec.get("maxUnavailable") is not None:
        return max(expected - scaled_value(spec["maxUnavailable"], expected, round_up=True), 0)
    return scaled_value(spec.get("minAvailable"), expected, round_up=True)


@dataclass(frozen=True, slots=True)
class Disrupted:
    """The Pods whose eviction was allowed and that are still to go."""

    pods: dict[str, str]
    """When it was allowed, by the Pod's name."""
    overdue: Sequence[Pod]
    """Those that should have gone by now."""
    recheck_s: float | None
    """When the first of `pods` becomes overdue."""


def disrupted(status: Object, pods: Sequence[Pod], now: dt.datetime) -> Disrupted:
    """What is still to go of the `disruptedPods` in a status."""
    said = status.get("disruptedPods") or {}
    going: dict[str, str] = {}
    overdue: list[Pod] = []
    waits: list[float] = []
    for pod in pods:
        since = said.get(pod.metadata.name)
        if since is None or pod.metadata.deletion_timestamp is not None:
            continue
        wait = parse_time(since) + DELETION_TIMEOUT - now
        if wait <= dt.timedelta():
            overdue.append(pod)
        else:
            going[pod.metadata.name] = since
            waits.append(wait.total_seconds())
    return Disrupted(going, overdue, min(waits, default=None))


def healthy(pods: Sequence[Pod], going: dict[str, str]) -> int:
    """How many are ready and will stay."""
    return sum(
        pod.is_ready and pod.metadata.deletion_timestamp is None and pod.metadata.name not in going for pod in pods
    )


def status_after(
    budget: Object, *, expected: int, desired: int, healthy: int, going: dict[str, str], clock: Clock
) -> Object:
    """The status of a budget for these numbers.

    Without expected Pods nothing is allowed: the first ones could come before the next look.
    """
    status = status_of(budget)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    generation = meta(budget).generation
    status |= {
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "expectedPods": expected,
        "disruptionsAllowed": allowed,
        "observedGeneration": generation,
    }
    if going:
        status["disruptedPods"] = going
    else:
        status.pop("disruptedPods", None)
    reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    _set_allowed(status, reason, "", clock)
    return status


def status_of_failure(budget: Object, message: str, clock: Clock) -> Object:
    """The status when its numbers cannot be found: nothing may be evicted."""
    status = status_of(budget)
    numbers = ("currentHealthy", "desiredHealthy", "expectedPods")
    status |= {**{name: status.get(name, 0) for name in numbers}, "disruptionsAllowed": 0}
    _set_allowed(status, ("False", "SyncFailed"), message, clock)
    return status


def _set_allowed(status: Object, value: tuple[str, str], message: str, clock: Clock) -> None:
    condition: dict[str, Any] = {
        "type": DISRUPTION_ALLOWED,
        "status": value[0],
        "reason": value[1],
        "message": message,
    }
    if status.get("observedGeneration"):
        condition["observedGeneration"] = status["observedGeneration"]
    set_condition(status.setdefault("conditions", []), condition, clock)
