"""`NodeTable`: the Nodes as rows of arrays, with the Pods on them.

Rows of removed Nodes are reused. A Pod may be reported before its Node: then its row has Pods but is not alive.
Source of the fields: pkg/scheduler/framework/types.go `NodeInfo` (1.36).
"""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from sampan.core.pods.tolerations import Taint
from sampan.scheduler.amounts import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, amounts
from sampan.scheduler.cache.arrays import Ints, Mask, grown
from sampan.scheduler.cache.change_log import ChangeLog
from sampan.scheduler.cache.topology import Topology
from sampan.scheduler.constraints import normalized_image
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Labels, Node

_ROWS: Final = 64

_Pods = dict[str, PodInfo]
_NO_LABELS: Labels = {}


class NodeTable:
    """Free resources and other numbers of all Nodes as arrays: filters and scores compute all rows at once.

    Only the cache writes it. Readers never run in the middle of a change, because changes do not await.
    """

    def __init__(self) -> None:
        self.size = _ROWS
        """Number of allocated rows, which is the length of all arrays."""
        self.rows: dict[str, int] = {}
        """Row of each Node, by name."""
        self.names: list[str] = [""] * _ROWS
        self.nodes: list[Node | None] = [None] * _ROWS
        self.pods: list[_Pods] = [{} for _ in range(_ROWS)]
        """Pods on each Node, by UID."""
        self.alive: Mask = np.zeros(_ROWS, dtype=np.bool_)
        self.count = 0
        """Number of rows that are alive."""
        self.resources: dict[str, int] = {CPU: 0, MEMORY: 1, EPHEMERAL_STORAGE: 2}
        """Index of each resource in `allocatable` and `requested`."""
        self.allocatable: Ints = np.zeros((3, _ROWS), dtype=np.int64)
        self.requested: Ints = np.zeros((3, _ROWS), dtype=np.int64)
        self.nonzero: Ints = np.zeros((2, _ROWS), dtype=np.int64)
        """Requested CPU and memory, with the defaults that scores use for Pods without requests."""
        self.pod_count: Ints = np.zeros(_ROWS, dtype=np.int64)
        self.pod_limit: Ints = np.zeros(_ROWS, dtype=np.int64)
        self.spec_log = ChangeLog()
        """Log of changes of Nodes themselves."""
        self.usage_log = ChangeLog()
        """Log of changes of Nodes and of their Pods' usage."""
        self.topology = Topology(self)
        self.image_nodes: dict[str, int] = {}
        """Number of Nodes that have each image."""
        self._free = list(range(_ROWS - 1, -1, -1))

    # Reading

    def labels(self, row: int) -> Labels:
        """Return a Node's labels."""
        node = self.nodes[row]
        return _NO_LABELS if node is None else node.metadata.labels

    def taints(self, row: int) -> tuple[Taint, ...]:
        """Return a Node's taints."""
        node = self.nodes[row]
        return () if node is None else node.spec.taints

    def row_of(self, name: str) -> int | None:
        """Return the row of a Node; None if the Node is not alive."""
        row = self.rows.get(name)
        return row if row is not None and self.alive[row] else None

    # Nodes

    def set_node(self, node: Node) -> None:
        """Add or update a Node."""
        row = self._row(node.metadata.name)
        old = self.nodes[row]
        # Image counts are changed by difference, because a Node reports its images every few seconds.
        self._count_images(old, -1)
        self._count_images(node, 1)
        self.nodes[row] = node
        if not self.alive[row]:
            self.alive[row] = True
            self.count += 1
        allocatable = amounts(node.status.allocatable)
        self.pod_limit[row] = allocatable.pop(PODS, 0)
        columns = [self._column(resource) for resource in allocatable]
        # A resource that the Node no longer reports must not keep its old amount.
        self.allocatable[:, row] = 0
        self.allocatable[columns, row] = list(allocatable.values())
        self.topology.node_changed(row, node.metadata.labels)
        self._changed(row)

    def remove_node(self, name: str) -> None:
        """Remove a Node. Its Pods stay until they are removed themselves."""
        row = self.row_of(name)
        if row is None:
            return
        self._count_images(self.nodes[row], -1)
        self.nodes[row] = None
        self.alive[row] = False
        self.count -= 1
        self.allocatable[:, row] = 0
        self.pod_limit[row] = 0
        self.topology.node_changed(row, _NO_LABELS)
        self._changed(row)
        self._free_if_unused(row)

    # Pods

    def add_pod(self, pod: PodInfo) -> int:
        """Add a Pod to its Node; return the row of the Node."""
        row = self._row(pod.node_name)
        self.pods[row][pod.uid] = pod
        self._use(row, pod, 1)
        return row

    def replace_pod(self, pod: PodInfo) -> None:
        """Replace a Pod by a new state with the same Node and the same usage."""
        self.pods[self.rows[pod.node_name]][pod.uid] = pod

    def remove_pod(self, pod: PodInfo) -> int:
        """Remove a Pod from its Node; return the row of the Node."""
        row = self.rows[pod.node_name]
        del self.pods[row][pod.uid]
        self._use(row, pod, -1)
        self._free_if_unused(row)
        return row

    def request_vector(self, requests: Iterable[tuple[str, int]]) -> tuple[tuple[int, int], ...]:
        """Return pairs of a resource's index and its amount."""
        return tuple((self._column(resource), value) for resource, value in requests)

    def _use(self, row: int, pod: PodInfo, sign: int) -> None:
        constraints = pod.constraints
        for column, value in self.request_vector(constraints.requests):
            self.requested[column, row] += sign * value
        self.nonzero[0, row] += sign * constraints.nonzero[0]
        self.nonzero[1, row] += sign * constraints.nonzero[1]
        self.pod_count[row] += sign
        self.usage_log.add(row)

    # Rows and columns

    def _changed(self, row: int) -> None:
        self.spec_log.add(row)
        self.usage_log.add(row)

    def _row(self, name: str) -> int:
        row = self.rows.get(name)
        if row is None:
            if not self._free:
                self._grow()
            row = self.rows[name] = self._free.pop()
            self.names[row] = name
        return row

    def _free_if_unused(self, row: int) -> None:
        # A row with Pods must stay: the Node may be added again, and its Pods count against it at once.
        if not self.alive[row] and not self.pods[row]:
            del self.rows[self.names[row]]
            self.names[row] = ""
            self._free.append(row)

    def _grow(self) -> None:
        # Doubled, so that adding n Nodes copies each row only a constant number of times on average.
        old, self.size = self.size, self.size * 2
        for name in ("allocatable", "requested", "nonzero", "pod_count", "pod_limit"):
            setattr(self, name, grown(getattr(self, name), self.size))
        alive = np.zeros(self.size, dtype=np.bool_)
        alive[:old] = self.alive
        self.alive = alive
        self.names += [""] * old
        self.nodes += [None] * old
        self.pods += [{} for _ in range(old)]
        # From high to low, because `pop` takes the last: rows are used in ascending order.
        self._free = list(range(self.size - 1, old - 1, -1))
        self.topology.grow()

    def _column(self, resource: str) -> int:
        column = self.resources.get(resource)
        if column is None:
            column = self.resources[resource] = len(self.resources)
            more = np.zeros((1, self.size), dtype=np.int64)
            self.allocatable = np.concatenate((self.allocatable, more))
            self.requested = np.concatenate((self.requested, more))
        return column

    def _count_images(self, node: Node | None, sign: int) -> None:
        for name in images_of(node):
            count = self.image_nodes.get(name, 0) + sign
            if count:
                self.image_nodes[name] = count
            else:
                del self.image_nodes[name]


def images_of(node: Node | None) -> Mapping[str, int]:
    """Return the sizes of a Node's images, by each of their names."""
    if node is None:
        return {}
    return {normalized_image(name): image.size_bytes for image in node.status.images for name in image.names}
