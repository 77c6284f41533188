"""NodeName: a Pod that names a Node can run only on that Node. Source: plugins/nodename/node_name.go (1.36)."""

from collections.abc import Hashable, Mapping
from typing import ClassVar

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Rows
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.constraints import Constraints
from sampan.scheduler.framework.cycle import UNRESOLVABLE
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, always
from sampan.scheduler.plugins.local import LocalFilter


class NodeName(LocalFilter):
    """Filters Nodes by name."""

    name: ClassVar[str] = "NodeName"
    reason: ClassVar[str] = "node(s) didn't match the requested node name"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {ClusterEvent.NODE_ADDED: always}

    def key(self, constraints: Constraints) -> Hashable:
        """Return the name of the Node in the Pod's spec."""
        return constraints.node_name or None

    def codes(self, constraints: Constraints, nodes: NodeTable, rows: Rows) -> Ints:
        """Reject all other Nodes."""
        matches = np.array([nodes.names[row] == constraints.node_name for row in rows], dtype=np.bool_)
        return np.where(matches, 0, 1 | UNRESOLVABLE)
