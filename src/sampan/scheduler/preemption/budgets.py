"""Protection of victims by PodDisruptionBudgets.

Source: plugins/defaultpreemption/default_preemption.go `filterPodsWithPDBViolation` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sampan.core.label_selectors import NOTHING, Selector, selector_from_label_selector
from sampan.kinds import policy_v1
from sampan.scheduler.pod_info import PodInfo


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """PodDisruptionBudget as numbers: `allowed` more Pods of the selector may be evicted."""

    namespace: str
    selector: Selector
    allowed: int
    disrupted: frozenset[str]
    """Names of Pods that already count as disrupted."""


def read_budget(obj: policy_v1.PodDisruptionBudget) -> DisruptionBudget:
    """Read a budget. One with a malformed selector protects no Pods."""
    spec, status = obj.get("spec") or {}, obj.get("status")
    try:
        selector = selector_from_label_selector(spec.get("selector"))
    except ValueError:
        selector = NOTHING
    allowed = (status.get("disruptionsAllowed") or 0) if status else 0
    disrupted = frozenset((status.get("disruptedPods") or ()) if status else ())
    return DisruptionBudget(obj["metadata"].get("namespace", ""), selector, allowed, disrupted)


def split_by_violation(
    pods: Iterable[PodInfo], budgets: Sequence[DisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """Split Pods into those whose eviction would violate a budget, and the others, keeping their order."""
    left = [budget.allowed for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        violates = False
        for number, budget in enumerate(budgets):
            if _protects(budget, pod):
                left[number] -= 1
                violates |= left[number] < 0
        (violating if violates else others).append(pod)
    return violating, others


def _protects(budget: DisruptionBudget, pod: PodInfo) -> bool:
    return (
        bool(pod.labels)
        and budget.namespace == pod.namespace
        and not budget.selector.empty
        and budget.selector.matches(pod.labels)
        and pod.name not in budget.disrupted
    )
