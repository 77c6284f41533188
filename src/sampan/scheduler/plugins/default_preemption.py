"""DefaultPreemption: makes room for a Pod that fits no Node by evicting Pods of lower priority.

Source: plugins/defaultpreemption/default_preemption.go, framework/preemption/preemption.go (1.36).
"""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from sampan.scheduler.extender.extenders import Extenders
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle
from sampan.scheduler.framework.diagnosis import FitError
from sampan.scheduler.framework.plugin import ClusterEvent, Filters, Hint, PostFilterResult
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.budgets import DisruptionBudget
from sampan.scheduler.preemption.candidate import Candidate, best_candidate
from sampan.scheduler.preemption.dry_run import DryRun
from sampan.scheduler.preemption.eviction import Evictor
from sampan.scheduler.queue.nominator import Nominator

_NOT_HELPFUL = "Preemption is not helpful for scheduling"


class DefaultPreemption:
    """Chooses victims. They are evicted while other Pods are scheduled."""

    name: ClassVar[str] = "DefaultPreemption"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {}

    def __init__(
        self,
        nominator: Nominator,
        evictor: Evictor,
        *,
        budgets: Callable[[], Sequence[DisruptionBudget]],
        extenders: Extenders,
        random: random.Random,
    ) -> None:
        self._nominator = nominator
        self._evictor = evictor
        self._budgets = budgets
        self._extenders = extenders
        self._random = random
        self.min_candidates_percentage = 10
        self.min_candidates = 100

    async def post_filter(self, cycle: Cycle, filters: Filters) -> PostFilterResult:
        """Find the Node with the least harmful victims for a preemption."""
        ineligible = self._ineligible(cycle)
        if ineligible:
            return PostFilterResult(message=f"preemption: {ineligible}")
        count, candidates, reasons = self._candidates(cycle, filters)
        if candidates and self._extenders:
            candidates = await self._extenders.preempt(cycle, candidates)
        if not candidates:
            return PostFilterResult(message=f"preemption: {self._no_candidate(cycle, count, reasons)}", clear=True)
        best = best_candidate(candidates)
        return PostFilterResult(best.node_name, actuate=self._actuation(best, cycle.pod))

    def _ineligible(self, cycle: Cycle) -> str:
        """Return the reason why the Pod may not preempt; empty if it may."""
        pod = cycle.pod
        if not pod.constraints.may_preempt:
            return "not eligible due to preemptionPolicy=Never."
        row = cycle.nodes.row_of(self._nominator.node_of(pod.uid))
        if row is None or any(int(codes[row]) & UNRESOLVABLE for codes in cycle.rejections.values()):
            return ""
        lower = (other for other in cycle.nodes.pods[row].values() if other.priority < pod.priority)
        if any(other.is_terminating for other in lower):
            return "not eligible due to a terminating pod on the nominated node."
        return ""

    def _candidates(self, cycle: Cycle, filters: Filters) -> tuple[int, list[Candidate], Counter[str]]:
        """Return the number of checked Nodes, the candidates, and the reasons why other Nodes are not candidates.

        The check starts at a random Node and stops once there are enough candidates.
        """
        rows = np.flatnonzero(filters.resolvable(cycle))
        reasons: Counter[str] = Counter()
        if not len(rows):
            return 0, [], reasons
        desired = max(len(rows) * self.min_candidates_percentage // 100, self.min_candidates)
        dry_run = DryRun(cycle, filters, self._budgets())
        found: list[Candidate] = []
        without_violation = False
        for row in np.roll(rows, -self._random.randrange(len(rows))):
            result = dry_run.on(int(row), self._nominator.on(cycle.nodes.names[int(row)]))
            if isinstance(result, Candidate):
                found.append(result)
                without_violation |= not result.violations
                if without_violation and len(found) >= desired:
                    break
            else:
                reasons.update(result)
        return len(rows), found, reasons

    def _no_candidate(self, cycle: Cycle, checked: int, reasons: Counter[str]) -> FitError:
        rest = cycle.nodes.count - checked
        if rest:
            reasons[_NOT_HELPFUL] += rest
        return FitError(cycle.nodes.count, tuple(reasons.items()))

    def _actuation(self, candidate: Candidate, pod: PodInfo) -> Callable[[], Awaitable[None]]:
        """Return the action that evicts the victims and withdraws nominations of less important Pods on that Node."""

        async def actuate() -> None:
            for other in list(self._nominator.on(candidate.node_name)):
                if other.priority < pod.priority:
                    self._nominator.remove(other.uid)
                    await self._evictor.withdraw(other)
            await self._evictor.evict(candidate, pod)

        return actuate
