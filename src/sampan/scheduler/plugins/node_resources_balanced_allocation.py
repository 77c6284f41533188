"""NodeResourcesBalancedAllocation: prefers Nodes where CPU and memory are used in equal proportion.

Source: plugins/noderesources/balanced_allocation.go (1.36).
"""

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from sampan.scheduler.amounts import CPU, MEMORY
from sampan.scheduler.cache.arrays import Ints, Mask, Rows
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE, ClusterEvent, Hint

N = TypeVar("N", int, Ints)


class NodeResourcesBalancedAllocation:
    """Scores Nodes by the balance of their usage."""

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {}

    def __init__(self, resources: tuple[str, ...] = (CPU, MEMORY)) -> None:
        """Create the plugin for the resources to balance."""
        self._resources = resources

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """Score the improvement of the balance; 75 if it does not change. Pods without requests get no score."""
        nodes = cycle.nodes
        requests = dict(cycle.pod.constraints.requests)
        desired = tuple((resource, requests.get(resource, 0)) for resource in self._resources)
        if not any(value for _, value in desired):
            return None

        columns = [
            (column, value)
            for resource, value in desired
            if (value or "/" not in resource) and (column := nodes.resources.get(resource)) is not None
        ]

        def weigh(rows: Rows) -> Ints:
            places = np.array([column for column, _ in columns], dtype=np.intp)
            allocatable = nodes.allocatable[np.ix_(places, rows)]
            allocated = nodes.requested[np.ix_(places, rows)]
            with_pod = allocated + np.array([[value] for _, value in columns], dtype=np.int64)
            return _score(_balance(with_pod, allocatable) - _balance(allocated, allocatable))

        def weigh_one(row: int) -> int:
            before: list[float] = []
            after: list[float] = []
            for column, value in columns:
                allocatable = int(nodes.allocatable[column, row])
                if allocatable > 0:
                    allocated = int(nodes.requested[column, row])
                    before.append(min(allocated / allocatable, 1.0))
                    after.append(min((allocated + value) / allocatable, 1.0))
            return _score(_balance_of_one(after) - _balance_of_one(before))

        return cycle.usage_column((self.name, desired), weigh, weigh_one)


def _score(better: N) -> N:
    """Return the score; 75 without a change. The dividend is never negative, so floor division equals Go's division."""
    return MAX_NODE_SCORE // 2 + (MAX_NODE_SCORE // 2 + better) // 2


def _balance_of_one(shares: Sequence[float]) -> int:
    """Return 100 if the same share of each resource is used, less otherwise."""
    if len(shares) < 2:
        std = 0.0
    elif len(shares) == 2:
        std = abs((shares[0] - shares[1]) / 2)
    else:
        mean = sum(shares) / len(shares)
        std = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    return int((1 - std) * MAX_NODE_SCORE)


def _balance(requested: Ints, allocatable: Ints) -> Ints:
    """Return the balance of many Nodes, as `_balance_of_one` does. The first axis of the arrays is the resource."""
    has = allocatable > 0
    shares = np.where(has, np.minimum(requested / np.maximum(allocatable, 1), 1.0), 0.0)
    kinds = has.sum(axis=0)
    mean = shares.sum(axis=0) / np.maximum(kinds, 1)
    deviation = np.where(has, shares - mean, 0.0)
    variance: NDArray[np.float64] = (deviation * deviation).sum(axis=0) / np.maximum(kinds, 1)
    if len(requested) == 2:
        std = np.where(kinds == 2, np.abs((shares[0] - shares[1]) / 2), 0.0)
    else:
        std = np.where(kinds >= 2, np.sqrt(variance), 0.0)
    return ((1 - std) * MAX_NODE_SCORE).astype(np.int64)
