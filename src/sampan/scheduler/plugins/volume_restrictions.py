"""VolumeRestrictions: volumes that only one Pod or one Node can use at a time.

Source: plugins/volumerestrictions/volume_restrictions.go (1.36).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints
from sampan.scheduler.framework.cycle import Cycle, Unschedulable
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Volume
from sampan.scheduler.volumes.storage import Storage, claim_names

_DISK: Final = 1
_CLAIM: Final = 2
_REASONS: Final = {
    _DISK: "node(s) had no available disk",
    _CLAIM: "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
    "another pod",
}


class VolumeRestrictions:
    """Filters Nodes by volumes in use."""

    name: ClassVar[str] = "VolumeRestrictions"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.POD_DELETED: always,
        ClusterEvent.NODE_ADDED: always,
        ClusterEvent.CLAIM_CHANGED: always,
    }

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject all Nodes if a ReadWriteOncePod claim is in use.

        Otherwise, reject the Nodes where a disk is in use.
        """
        pod, nodes = cycle.pod, cycle.nodes
        if not pod.constraints.volumes:
            return None
        if self._users(cycle):
            return np.full(nodes.size, _CLAIM, dtype=np.int64)
        disks = _disks(pod)
        if not disks:
            return None
        codes = cycle.zeros()
        for row in np.flatnonzero(nodes.pod_count):
            codes[row] = _DISK if _conflict(disks, nodes.pods[int(row)].values()) else 0
        return codes

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the message."""
        return (_REASONS[code],)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return a code if the claim, or a disk on the Node, would still be in use."""
        pod = cycle.pod
        if not pod.constraints.volumes:
            return 0
        removed = {each.uid for each in what_if.removed}
        if any(user.uid not in removed for user in self._users(cycle)):
            return _CLAIM
        remaining = [each for uid, each in cycle.nodes.pods[what_if.row].items() if uid not in removed]
        return _DISK if _conflict(_disks(pod), (*remaining, *what_if.added)) else 0

    def _users(self, cycle: Cycle) -> list[PodInfo]:
        """Return the Pods that use a ReadWriteOncePod claim of this Pod. Raises `Unschedulable`."""
        found: list[PodInfo] | None = cycle.state.get(self.name)
        if found is not None:
            return found
        pod = cycle.pod
        desired: set[str] = set()
        for name, is_own in claim_names(pod):
            claim = self._storage.claim(pod.namespace, name)
            if claim is None and not is_own:
                raise Unschedulable(self.name, f'persistentvolumeclaim "{name}" not found')
            if claim is not None and "ReadWriteOncePod" in claim.spec.access_modes:
                desired.add(name)
        users = [
            other
            for pods in (cycle.nodes.pods if desired else ())
            for other in pods.values()
            if other.namespace == pod.namespace and any(name in desired for name, _ in claim_names(other))
        ]
        cycle.state[self.name] = users
        return users


def _disks(pod: PodInfo) -> list[Volume]:
    return [
        volume
        for volume in pod.constraints.volumes
        if volume.gce_persistent_disk or volume.aws_elastic_block_store or volume.rbd or volume.iscsi
    ]


def _conflict(disks: Sequence[Volume], pods: Iterable[PodInfo]) -> bool:
    return any(_same(one, other) for pod in pods for other in _disks(pod) for one in disks)


def _same(one: Volume, other: Volume) -> bool:
    """Return True if both are the same disk and at least one of them is writable."""
    if one.gce_persistent_disk and other.gce_persistent_disk:
        return _shared(one.gce_persistent_disk, other.gce_persistent_disk, "pdName")
    if one.aws_elastic_block_store and other.aws_elastic_block_store:
        return bool(one.aws_elastic_block_store.get("volumeID") == other.aws_elastic_block_store.get("volumeID"))
    if one.iscsi and other.iscsi:
        return _shared(one.iscsi, other.iscsi, "iqn")
    if one.rbd and other.rbd:
        monitors = set(one.rbd.get("monitors") or ()) & set(other.rbd.get("monitors") or ())
        return bool(monitors) and _shared(one.rbd, other.rbd, "pool", "image")
    return False


def _shared(one: Mapping[str, Any], other: Mapping[str, Any], *fields: str) -> bool:
    same = all(one.get(field) == other.get(field) for field in fields)
    return same and not (one.get("readOnly") and other.get("readOnly"))
