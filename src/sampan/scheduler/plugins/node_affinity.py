"""NodeAffinity: node selector, and required and preferred node affinity.

Source: plugins/nodeaffinity/node_affinity.go (1.36).
"""

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import numpy as np

from sampan.core.pods.node_affinity import term_selects
from sampan.scheduler.cache.arrays import Ints, Mask, Rows
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.constraints import Constraints
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, always
from sampan.scheduler.plugins.local import LocalFilter
from sampan.scheduler.plugins.node_match import matches_required, named_nodes
from sampan.scheduler.plugins.normalize import normalized
from sampan.scheduler.pod_info import PodInfo


def _matching(pod: PodInfo, old: Any, new: Any) -> bool:
    return matches_required(pod.constraints, new.metadata.name, new.metadata.labels)


class NodeAffinity(LocalFilter):
    """Filters and scores Nodes by node selector and node affinity."""

    name: ClassVar[str] = "NodeAffinity"
    reason: ClassVar[str] = "node(s) didn't match Pod's node affinity/selector"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.NODE_ADDED: _matching,
        ClusterEvent.NODE_LABELS: _matching,
        ClusterEvent.SELF_UPDATED: always,
    }

    def key(self, constraints: Constraints) -> Hashable:
        """Return the node selector and the required terms."""
        required = constraints.node_affinity.required
        return (constraints.node_selector, required) if constraints.node_selector or required else None

    def filter(self, cycle: Cycle) -> Ints | None:
        """Return the codes of all rows.

        If the Pod names its Nodes, only those are checked, and the result is not cached.
        """
        constraints, nodes = cycle.pod.constraints, cycle.nodes
        names = named_nodes(constraints)
        if names is None:
            return super().filter(cycle)
        codes = np.full(nodes.size, 1 | UNRESOLVABLE, dtype=np.int64)
        rows = np.array([row for name in names if (row := nodes.row_of(name)) is not None], dtype=np.intp)
        codes[rows] = self.codes(constraints, nodes, rows)
        return codes

    def codes(self, constraints: Constraints, nodes: NodeTable, rows: Rows) -> Ints:
        """Reject Nodes that do not match."""
        matches = [matches_required(constraints, nodes.names[row], nodes.labels(row)) for row in rows]
        return np.where(np.array(matches, dtype=np.bool_), 0, 1 | UNRESOLVABLE)

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """Sum the weights of the matching preferred terms."""
        preferred, nodes = cycle.pod.constraints.node_affinity.preferred, cycle.nodes
        if not preferred:
            return None

        def weigh(rows: Rows) -> Ints:
            found = [
                sum(
                    each.weight
                    for each in preferred
                    if term_selects(each.preference, nodes.names[row], nodes.labels(row))
                )
                for row in rows
            ]
            return np.array(found, dtype=np.int64)

        return normalized(cycle.node_column((self.name, "score", preferred), weigh), feasible)


def matching_nodes(cycle: Cycle) -> Mask | None:
    """Return the rows that match the Pod's required terms; None if it has none."""
    codes = NodeAffinity().filter(cycle)
    return None if codes is None else codes == 0
