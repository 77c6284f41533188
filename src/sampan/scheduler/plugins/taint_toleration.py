"""TaintToleration: taints repel Pods, or lower the score of a Node.

Source: plugins/tainttoleration/taint_toleration.go (1.36).
"""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np

from sampan.core.pods.tolerations import PREFER_NO_SCHEDULE, untolerated
from sampan.scheduler.cache.arrays import Ints, Mask, Rows
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.constraints import Constraints
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, always
from sampan.scheduler.plugins.local import LocalFilter
from sampan.scheduler.plugins.normalize import normalized
from sampan.scheduler.pod_info import PodInfo


def _tolerable(pod: PodInfo, old: Any, new: Any) -> bool:
    return untolerated(pod.constraints.tolerations, new.spec.taints) is None


class TaintToleration(LocalFilter):
    """Filters and scores Nodes by taints."""

    name: ClassVar[str] = "TaintToleration"
    reason: ClassVar[str] = "node(s) had untolerated taint(s)"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.NODE_ADDED: _tolerable,
        ClusterEvent.NODE_TAINTS: _tolerable,
        ClusterEvent.SELF_UPDATED: always,
    }

    def key(self, constraints: Constraints) -> Hashable:
        """Return the tolerations: Pods with equal ones have equal results."""
        return constraints.tolerations

    def codes(self, constraints: Constraints, nodes: NodeTable, rows: Rows) -> Ints:
        """Reject Nodes with an untolerated taint."""
        tolerations = constraints.tolerations
        tainted = [bool(taints := nodes.taints(row)) and untolerated(tolerations, taints) is not None for row in rows]
        return np.where(np.array(tainted, dtype=np.bool_), 1 | UNRESOLVABLE, 0)

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """Score Nodes: each untolerated PreferNoSchedule taint lowers the score."""
        nodes = cycle.nodes
        desired = tuple(each for each in cycle.pod.constraints.tolerations if each.effect in ("", PREFER_NO_SCHEDULE))

        def count(rows: Rows) -> Ints:
            found = [
                sum(untolerated(desired, [taint], (PREFER_NO_SCHEDULE,)) is not None for taint in nodes.taints(row))
                for row in rows
            ]
            return np.array(found, dtype=np.int64)

        return normalized(cycle.node_column((self.name, "score", desired), count), feasible, reverse=True)


def tolerated_nodes(cycle: Cycle) -> Mask:
    """Return the rows without an untolerated taint."""
    codes = TaintToleration().filter(cycle)
    assert codes is not None
    tolerated: Mask = codes == 0
    return tolerated
