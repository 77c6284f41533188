"""Extenders: HTTP services that filter and score Nodes, evict and bind Pods, in Kubernetes' words.

Source: pkg/scheduler/extender.go, staging kube-scheduler extender/v1/types.go (1.36).
"""

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.framework.cycle import Cycle


class Extenders:
    """All extenders, as one."""

    def __bool__(self) -> bool:
        return False

    async def filter(self, cycle: Cycle, feasible: Mask) -> tuple[tuple[str, int], ...]:
        """Take rejected rows out of `feasible`; gives the reasons with their counts."""
        return ()

    async def prioritize(self, cycle: Cycle, feasible: Mask) -> Ints:
        """What the extenders add to the scores."""
        return cycle.zeros()
