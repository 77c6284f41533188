"""`Extenders`: all extenders in their order, and the plugin that delegates binding to one of them.

Source: pkg/scheduler/schedule_one.go `findNodesThatPassExtenders`, `prioritizeNodes` (1.36).
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from sampan.client.errors import ClientError
from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.extender.http_extender import MAX_EXTENDER_PRIORITY, HttpExtender
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE, ClusterEvent, Hint
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.candidate import Candidate

_log = logging.getLogger("sampan.scheduler")


class Extenders:
    """All extenders, in their order; possibly none."""

    def __init__(self, extenders: Sequence[HttpExtender] = ()) -> None:
        self.extenders = tuple(extenders)

    def __bool__(self) -> bool:
        return bool(self.extenders)

    async def aclose(self) -> None:
        """Close all connections."""
        for extender in self.extenders:
            await extender.aclose()

    async def filter(self, cycle: Cycle, feasible: Mask) -> tuple[tuple[str, int], ...]:
        """Remove rejected rows from `feasible`; return the reasons with their counts. Raises `ClientError`."""
        reasons: Counter[str] = Counter()
        for extender in self.extenders:
            rows = np.flatnonzero(feasible)
            if not extender.config.filter_verb or not extender.is_interested(cycle.pod) or not len(rows):
                continue
            names = [cycle.nodes.names[row] for row in rows]
            try:
                left = await extender.filter(cycle.pod, names)
            except ClientError as error:
                if not extender.config.ignorable:
                    raise
                _log.warning("ignoring %s, because it failed: %s", extender, error)
                continue
            for row, name in zip(rows, names, strict=True):
                if name not in left.names:
                    feasible[row] = False
                    reasons[left.unresolvable.get(name) or left.failed.get(name) or f"rejected by {extender}"] += 1
        return tuple(reasons.items())

    async def prioritize(self, cycle: Cycle, feasible: Mask) -> Ints:
        """Return the sum of the extenders' scores. The scores of an extender that fails count as 0."""
        rows = np.flatnonzero(feasible)
        names = [cycle.nodes.names[row] for row in rows]
        interested = [each for each in self.extenders if each.config.prioritize_verb and each.is_interested(cycle.pod)]
        results = await asyncio.gather(
            *(each.prioritize(cycle.pod, names) for each in interested), return_exceptions=True
        )
        total = cycle.zeros()
        for extender, result in zip(interested, results, strict=True):
            if isinstance(result, BaseException):
                _log.warning("ignoring the scores of %s, because it failed: %s", extender, result)
                continue
            factor = extender.config.weight * MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY
            total[rows] += np.array([result.get(name, 0) * factor for name in names], dtype=np.int64)
        return total

    async def preempt(self, cycle: Cycle, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that all extenders accept. Raises `ClientError`."""
        agreed = list(candidates)
        for extender in self.extenders:
            if not agreed or not extender.config.preempt_verb or not extender.is_interested(cycle.pod):
                continue
            try:
                agreed = await extender.preempt(cycle.pod, agreed, cycle.nodes)
            except ClientError as error:
                if not extender.config.ignorable:
                    raise
                _log.warning("ignoring %s, because it failed: %s", extender, error)
        return agreed

    def binder(self, pod: PodInfo) -> HttpExtender | None:
        """Return the extender that binds a Pod; None if there is none."""
        return next((each for each in self.extenders if each.config.bind_verb and each.is_interested(pod)), None)


class ExtenderBinder:
    """Delegates the binding of Pods to the extender that is responsible for them."""

    name: ClassVar[str] = "ExtenderBinder"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {}

    def __init__(self, extenders: Extenders) -> None:
        self._extenders = extenders

    async def bind(self, cycle: Cycle, pod: PodInfo) -> bool:
        """Bind a Pod with its extender; return False if no extender binds it. Raises `ClientError`."""
        binder = self._extenders.binder(pod)
        if binder is None:
            return False
        await binder.bind(pod)
        return True
