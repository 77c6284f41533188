"""Choice of a Node for a Pod: all Nodes are filtered and scored, and ties are broken at random.

Source: pkg/scheduler/schedule_one.go `schedulePod` (1.36), without its sampling of Nodes.
"""

import random
from dataclasses import replace
from typing import Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.extender.extenders import Extenders
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.diagnosis import FitError
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.framework.plugin import WhatIf
from sampan.scheduler.queue.nominator import Nominator

EXTENDERS: Final = "Extenders"
"""Plugin name for rejections by extenders. It registers no events, because any event may resolve such a rejection."""
NOMINATED: Final = "node(s) are kept for nominated pods"


class Algorithm:
    """Chooses a Node for each Pod."""

    def __init__(self, nominator: Nominator, extenders: Extenders, random: random.Random) -> None:
        self._nominator = nominator
        self._extenders = extenders
        self._random = random

    async def choose(self, framework: Framework, cycle: Cycle) -> str:
        """Return the name of the Node. Raises `FitError`."""
        nodes = cycle.nodes
        if not nodes.count:
            raise FitError(0, plugins=frozenset(plugin.name for plugin in framework.filters))
        feasible = framework.feasible(cycle)
        kept = self._keep_for_nominated(framework, cycle, feasible) if self._nominator else 0
        nominated = nodes.row_of(self._nominator.node_of(cycle.pod.uid))
        if nominated is not None and feasible[nominated]:
            only = np.zeros(nodes.size, dtype=np.bool_)
            only[nominated] = True
            feasible = only
        rejected: tuple[tuple[str, int], ...] = ()
        if self._extenders and feasible.any():
            rejected = await self._extenders.filter(cycle, feasible)
        count = int(np.count_nonzero(feasible))
        if not count:
            raise _with_reasons(framework.diagnose(cycle), rejected, kept)
        if count == 1:
            return nodes.names[int(feasible.argmax())]
        total = framework.scored(cycle, feasible)
        if self._extenders:
            total += await self._extenders.prioritize(cycle, feasible)
        return nodes.names[self._best(total, feasible)]

    def _best(self, total: Ints, feasible: Mask) -> int:
        scores = np.where(feasible, total, -1)
        best = np.flatnonzero(scores == scores.max())
        return int(best[0] if len(best) == 1 else best[self._random.randrange(len(best))])

    def _keep_for_nominated(self, framework: Framework, cycle: Cycle, feasible: Mask) -> int:
        """Reject Nodes where the Pod would use room that is reserved for nominated Pods of the same or a higher
        priority.
        """
        pod, kept = cycle.pod, 0
        for node_name, others in self._nominator.nodes():
            row = cycle.nodes.row_of(node_name)
            if row is None or not feasible[row]:
                continue
            added = [other for other in others if other.priority >= pod.priority and other.uid != pod.uid]
            if added and framework.against(cycle, WhatIf(row, added=added)) is not None:
                feasible[row] = False
                kept += 1
        return kept


def _with_reasons(error: FitError, rejected: tuple[tuple[str, int], ...], kept: int) -> FitError:
    """Add the rejections by extenders, and those because of nominated Pods, to the error."""
    more = (*rejected, *(((NOMINATED, kept),) if kept else ()))
    # A Pod that is rejected because of a nominated Pod waits for resources to be freed.
    plugins = error.plugins | ({"NodeResourcesFit"} if kept else set()) | ({EXTENDERS} if rejected else set())
    return replace(error, reasons=(*error.reasons, *more), plugins=plugins) if more else error
