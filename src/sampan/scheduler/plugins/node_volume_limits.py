"""NodeVolumeLimits: limits the volumes of each CSI driver on a Node, according to its CSINode.

Source: plugins/nodevolumelimits/csi.go (1.36).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec
import numpy as np

from sampan.informer.store.indexer import Indexer
from sampan.resource.view import view_decoder
from sampan.scheduler.cache.arrays import Ints
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.volumes.storage import Storage, claim_names


class _Allocatable(msgspec.Struct, gc=False):
    count: int | None = None


class _Driver(msgspec.Struct, gc=False):
    name: str = ""
    allocatable: _Allocatable | None = None


class _Spec(msgspec.Struct, gc=False):
    drivers: list[_Driver] = msgspec.field(default_factory=list)


class _CSINode(msgspec.Struct, gc=False):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_decode = view_decoder(_CSINode)
_Attached = set[tuple[str, str]]
"""Pairs of a driver and the identity of a volume."""


class NodeVolumeLimits:
    """Filters Nodes by their volume limits."""

    name: ClassVar[str] = "NodeVolumeLimits"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.POD_DELETED: always,
        ClusterEvent.NODE_ADDED: always,
        ClusterEvent.CLAIM_CHANGED: always,
        ClusterEvent.STORAGE_CHANGED: always,
    }

    def __init__(self, storage: Storage, csi_nodes: Indexer[Any]) -> None:
        self._storage = storage
        self._csi_nodes = csi_nodes

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject Nodes that would exceed a limit."""
        if not self._volumes((cycle.pod,)):
            return None
        nodes = cycle.nodes
        codes = cycle.zeros()
        for row in np.flatnonzero(nodes.alive):
            codes[row] = self._code(cycle, int(row), nodes.pods[int(row)].values())
        return codes

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the message."""
        return ("node(s) exceed max volume count",)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return 1 if a limit would be exceeded."""
        if not cycle.pod.constraints.volumes:
            return 0
        removed = {pod.uid for pod in what_if.removed}
        remaining = [pod for uid, pod in cycle.nodes.pods[what_if.row].items() if uid not in removed]
        return self._code(cycle, what_if.row, (*remaining, *what_if.added))

    def _code(self, cycle: Cycle, row: int, pods: Iterable[PodInfo]) -> int:
        limits = self._limits(cycle.nodes.names[row])
        if not limits:
            return 0
        new = self._volumes((cycle.pod,))
        attached = self._volumes(pods)
        for driver in {driver for driver, _ in new - attached} & limits.keys():
            if sum(each == driver for each, _ in attached | new) > limits[driver]:
                return 1
        return 0

    def _limits(self, node_name: str) -> dict[str, int]:
        ref = self._csi_nodes.get(node_name)
        drivers = [] if ref is None else _decode(ref.raw).spec.drivers
        return {
            driver.name: driver.allocatable.count
            for driver in drivers
            if driver.allocatable is not None and driver.allocatable.count is not None
        }

    def _volumes(self, pods: Iterable[PodInfo]) -> _Attached:
        """Return the CSI volumes of Pods.

        A claim without a volume counts as the volume that its class will provision.
        """
        found: _Attached = set()
        for pod in pods:
            for name, _ in claim_names(pod):
                claim = self._storage.claim(pod.namespace, name)
                if claim is None:
                    continue
                volume = self._storage.volume(claim.spec.volume_name)
                if volume is not None and volume.spec.csi is not None:
                    found.add((volume.spec.csi.driver, volume.spec.csi.volume_handle))
                elif volume is None:
                    storage_class = self._storage.storage_class(claim.spec.storage_class_name or "")
                    if storage_class is not None and storage_class.provisions:
                        found.add((storage_class.provisioner, f"{pod.namespace}/{name}"))
        return found
