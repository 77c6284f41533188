"""Dry run of a preemption: the victims on a Node that would make room for a Pod.

Source: plugins/defaultpreemption/default_preemption.go `SelectVictimsOnNode` (1.36).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import Filters, WhatIf
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.budgets import DisruptionBudget, split_by_violation
from sampan.scheduler.preemption.candidate import Candidate, importance

NO_VICTIMS = "No preemption victims found for incoming pod"


@dataclass(frozen=True, slots=True)
class DryRun:
    """Dry runs for one Pod on several Nodes."""

    cycle: Cycle
    filters: Filters
    budgets: Sequence[DisruptionBudget]

    def on(self, row: int, nominated: Collection[PodInfo]) -> Candidate | Sequence[str]:
        """Return a candidate with as few and as unimportant victims as possible, or the reasons why the Node is not a
        candidate.

        `nominated` are the Pods nominated to the Node.
        """
        pod = self.cycle.pod
        lower = [each for each in self.cycle.nodes.pods[row].values() if each.priority < pod.priority]
        if not lower:
            return (NO_VICTIMS,)
        reserved = [each for each in nominated if each.priority >= pod.priority and each.uid != pod.uid]
        reasons = self._against(row, lower, reserved)
        if reasons is not None:
            return reasons
        violating, others = split_by_violation(sorted(lower, key=importance), self.budgets)
        removed = {each.uid: each for each in lower}
        # At first all Pods of lower priority are victims. Then as many as possible are spared: first those that a
        # budget protects, and in each group the most important ones first.
        violations = sum(not self._may_stay(row, each, removed, reserved=reserved) for each in violating)
        for each in others:
            self._may_stay(row, each, removed, reserved=reserved)
        victims = tuple(sorted(removed.values(), key=importance))
        return Candidate(self.cycle.nodes.names[row], victims, violations) if victims else (NO_VICTIMS,)

    def _may_stay(self, row: int, pod: PodInfo, removed: dict[str, PodInfo], *, reserved: Sequence[PodInfo]) -> bool:
        """Remove a Pod from the victims, if the waiting Pod still fits together with it."""
        del removed[pod.uid]
        if self._against(row, list(removed.values()), reserved) is None:
            return True
        removed[pod.uid] = pod
        return False

    def _against(self, row: int, removed: Sequence[PodInfo], reserved: Sequence[PodInfo]) -> Sequence[str] | None:
        # Nominated Pods may never arrive, so the Pod must fit without them too. The filters used the Nodes' current
        # Pods.
        reasons = self.filters.against(self.cycle, WhatIf(row, removed, reserved))
        if reasons is None and reserved:
            reasons = self.filters.against(self.cycle, WhatIf(row, removed))
        return reasons
