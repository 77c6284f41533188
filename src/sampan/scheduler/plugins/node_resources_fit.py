"""NodeResourcesFit: rejects Nodes without enough free resources, and scores fitting ones by their free resources.

Source: plugins/noderesources/fit.go, least_allocated.go, most_allocated.go (1.36).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from sampan.scheduler.amounts import CPU, MEMORY, amounts
from sampan.scheduler.cache.arrays import Ints, Mask, Rows
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE, ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.pod_info import PodInfo

_TOO_MANY_PODS: Final = 1


@dataclass(frozen=True, slots=True)
class ScoringStrategy:
    """Score functions of requested and allocatable amounts, for many Nodes and for one. Allocatable is never 0."""

    rows: Callable[[Ints, Ints], Ints]
    one: Callable[[int, int], int]


def _least_allocated(requested: Ints, allocatable: Ints) -> Ints:
    return np.where(requested > allocatable, 0, (allocatable - requested) * MAX_NODE_SCORE // allocatable)


def _least_allocated_of_one(requested: int, allocatable: int) -> int:
    return 0 if requested > allocatable else (allocatable - requested) * MAX_NODE_SCORE // allocatable


def _most_allocated(requested: Ints, allocatable: Ints) -> Ints:
    return np.minimum(requested, allocatable) * MAX_NODE_SCORE // allocatable


def _most_allocated_of_one(requested: int, allocatable: int) -> int:
    return min(requested, allocatable) * MAX_NODE_SCORE // allocatable


STRATEGIES: Final[Mapping[str, ScoringStrategy]] = {
    "LeastAllocated": ScoringStrategy(_least_allocated, _least_allocated_of_one),
    "MostAllocated": ScoringStrategy(_most_allocated, _most_allocated_of_one),
}


def _would_fit(pod: PodInfo, old: Any, new: Any) -> bool:
    """Return True if the allocatable resources of the new or changed Node are sufficient for the Pod."""
    allocatable = amounts(new.status.allocatable)
    return all(allocatable.get(resource, 0) >= value for resource, value in pod.constraints.requests)


def _frees(pod: PodInfo, old: Any, new: Any) -> bool:
    """Return True: each deleted Pod reduces the number of Pods on its Node, which is limited."""
    return True


class NodeResourcesFit:
    """Filters and scores Nodes by free resources."""

    name: ClassVar[str] = "NodeResourcesFit"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.POD_DELETED: _frees,
        ClusterEvent.POD_UPDATED: always,
        ClusterEvent.NODE_ADDED: _would_fit,
        ClusterEvent.NODE_ALLOCATABLE: _would_fit,
        ClusterEvent.SELF_UPDATED: always,
    }

    def __init__(
        self,
        strategy: str = "LeastAllocated",
        resources: Mapping[str, int] | None = None,
        ignored: frozenset[str] = frozenset(),
    ) -> None:
        """Create the plugin. `resources` are the weights for the score; `ignored` resources are not filtered."""
        self._strategy = STRATEGIES[strategy]
        self._resources = resources or {CPU: 1, MEMORY: 1}
        self._ignored = ignored

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject Nodes without enough resources. The code has a bit for each missing resource."""
        nodes = cycle.nodes
        desired = self._desired(cycle)

        def lacking(rows: Rows) -> Ints:
            codes = (nodes.pod_count[rows] + 1 > nodes.pod_limit[rows]).astype(np.int64)
            for bit, (column, value) in enumerate(desired, 1):
                allocatable = nodes.allocatable[column, rows]
                codes |= (value > allocatable - nodes.requested[column, rows]).astype(np.int64) << bit
                codes |= np.where(value > allocatable, UNRESOLVABLE, 0)
            return codes

        def lacking_of_one(row: int) -> int:
            code = int(nodes.pod_count[row] >= nodes.pod_limit[row])
            for bit, (column, value) in enumerate(desired, 1):
                allocatable = int(nodes.allocatable[column, row])
                code |= int(value > allocatable - int(nodes.requested[column, row])) << bit
                code |= UNRESOLVABLE if value > allocatable else 0
            return code

        return cycle.usage_column((self.name, desired), lacking, lacking_of_one)

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return a message for each missing resource."""
        names = [resource for resource, _ in cycle.pod.constraints.requests if resource not in self._ignored]
        messages = ["Too many pods"] if code & _TOO_MANY_PODS else []
        return messages + [f"Insufficient {name}" for bit, name in enumerate(names, 1) if code >> bit & 1]

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return the bits of resources that would be missing."""
        nodes, row = cycle.nodes, what_if.row
        code = int(int(nodes.pod_count[row]) - len(what_if.removed) + len(what_if.added) + 1 > nodes.pod_limit[row])
        removed = [dict(pod.constraints.requests) for pod in what_if.removed]
        added = [dict(pod.constraints.requests) for pod in what_if.added]
        for bit, (resource, value) in enumerate(cycle.pod.constraints.requests, 1):
            if resource in self._ignored:
                continue
            column = nodes.resources.get(resource)
            free = 0 if column is None else int(nodes.allocatable[column, row] - nodes.requested[column, row])
            free += sum(pod.get(resource, 0) for pod in removed) - sum(pod.get(resource, 0) for pod in added)
            code |= int(value > free) << bit
        return code

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """Return the weighted mean of the resources' scores."""
        nodes, constraints = cycle.nodes, cycle.pod.constraints
        requests = dict(constraints.requests)
        requests[CPU], requests[MEMORY] = constraints.nonzero
        desired = tuple(
            (resource, weight, requests.get(resource, 0))
            for resource, weight in self._resources.items()
            if requests.get(resource, 0) or "/" not in resource
        )

        def weigh(rows: Rows) -> Ints:
            total = np.zeros(len(rows), dtype=np.int64)
            weights = np.zeros(len(rows), dtype=np.int64)
            for resource, weight, value in desired:
                requested, allocatable = _counted(nodes, resource, rows)
                has = allocatable > 0
                scores = self._strategy.rows(requested + value, np.maximum(allocatable, 1))
                total += np.where(has, scores * weight, 0)
                weights += np.where(has, weight, 0)
            return total // np.maximum(weights, 1)

        def weigh_one(row: int) -> int:
            total = weights = 0
            for resource, weight, value in desired:
                requested, allocatable = _counted_of_one(nodes, resource, row)
                if allocatable > 0:
                    total += weight * self._strategy.one(requested + value, allocatable)
                    weights += weight
            return total // max(weights, 1)

        return cycle.usage_column((self.name, "score", desired), weigh, weigh_one)

    def _desired(self, cycle: Cycle) -> tuple[tuple[int, int], ...]:
        requests = cycle.pod.constraints.requests
        return cycle.nodes.request_vector(each for each in requests if each[0] not in self._ignored)


def _counted(nodes: NodeTable, resource: str, rows: Rows) -> tuple[Ints, Ints]:
    """Return the requested amounts of a resource that scores use, and the allocatable amounts."""
    column = nodes.resources.get(resource)
    if column is None:
        nothing = np.zeros(len(rows), dtype=np.int64)
        return nothing, nothing
    requested = nodes.nonzero[column, rows] if resource in (CPU, MEMORY) else nodes.requested[column, rows]
    return requested, nodes.allocatable[column, rows]


def _counted_of_one(nodes: NodeTable, resource: str, row: int) -> tuple[int, int]:
    column = nodes.resources.get(resource)
    if column is None:
        return 0, 0
    requested = nodes.nonzero if resource in (CPU, MEMORY) else nodes.requested
    return int(requested[column, row]), int(nodes.allocatable[column, row])
