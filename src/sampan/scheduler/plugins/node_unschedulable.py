"""NodeUnschedulable: cordoned Nodes accept only Pods that tolerate the taint `node.kubernetes.io/unschedulable`.

Source: plugins/nodeunschedulable/node_unschedulable.go (1.36).
"""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar, Final

import numpy as np

from sampan.core.pods.tolerations import Taint, untolerated
from sampan.scheduler.cache.arrays import Ints, Rows
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.constraints import Constraints
from sampan.scheduler.framework.cycle import UNRESOLVABLE
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, always
from sampan.scheduler.plugins.local import LocalFilter
from sampan.scheduler.pod_info import PodInfo

TAINT: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


def _opened(pod: PodInfo, old: Any, new: Any) -> bool:
    return not new.spec.unschedulable


class NodeUnschedulable(LocalFilter):
    """Filters cordoned Nodes."""

    name: ClassVar[str] = "NodeUnschedulable"
    reason: ClassVar[str] = "node(s) were unschedulable"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.NODE_ADDED: _opened,
        ClusterEvent.NODE_TAINTS: _opened,
        ClusterEvent.SELF_UPDATED: always,
    }

    def key(self, constraints: Constraints) -> Hashable:
        """Return one key for all Pods, or None for a Pod that tolerates the taint."""
        return None if untolerated(constraints.tolerations, [TAINT]) is None else "all"

    def codes(self, constraints: Constraints, nodes: NodeTable, rows: Rows) -> Ints:
        """Reject cordoned Nodes."""
        closed = [(node := nodes.nodes[row]) is not None and node.spec.unschedulable for row in rows]
        return np.where(np.array(closed, dtype=np.bool_), 1 | UNRESOLVABLE, 0)
