"""VolumeBinding: a Pod's claims need volumes that its Node can access.

The claims are bound before the Node is chosen, or when it is chosen.

Source: plugins/volumebinding/{volume_binding,binder}.go (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np

from sampan.client.client import Client
from sampan.client.patch import MergePatch
from sampan.client.wait import wait_for
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.core.label_selectors import Selector
from sampan.kinds import core_v1
from sampan.scheduler.cache.arrays import Ints
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle, Unschedulable
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Labels
from sampan.scheduler.volumes.storage import Storage, fits, reaches
from sampan.scheduler.volumes.views import Claim, PersistentVolume, StorageClass

BIND_TIMEOUT_S: Final = 600.0
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_REASONS: Final = (
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    "node(s) did not have enough free storage",
)
_NODE_CONFLICT, _NO_VOLUME, _NO_SUCH_VOLUME, _NO_SPACE = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class _Unbound:
    """A claim that is bound once the Node is chosen."""

    claim: Claim
    free: list[PersistentVolume]
    """Matching free volumes, the smallest first."""
    storage_class: StorageClass
    room: list[Selector] | None
    """Nodes where a new volume fits; None for all Nodes."""

    def volume_on(self, name: str, labels: Labels) -> PersistentVolume | None:
        """Return the smallest volume that a Node can access, or None."""
        return next((volume for volume in self.free if reaches(volume, name, labels)), None)

    def can_be_provisioned_on(self, name: str, labels: Labels) -> bool:
        """Return True if a volume can be provisioned for a Node."""
        selected = self.claim.metadata.annotations.get(SELECTED_NODE)
        if not self.storage_class.provisions or (selected and selected != name):
            return False
        topologies = self.storage_class.allowed_topologies
        return not topologies or any(term.matches(labels) for term in topologies)

    def code(self, name: str, labels: Labels) -> int:
        """Return the reason why a Node is rejected, or 0."""
        if self.volume_on(name, labels) is not None:
            return 0
        if not self.can_be_provisioned_on(name, labels):
            return _NO_VOLUME
        fits = self.room is None or any(nodes.matches(labels) for nodes in self.room)
        return 0 if fits else _NO_SPACE


@dataclass(slots=True)
class _Claims:
    """The volumes that a Pod's claims need."""

    bound: list[PersistentVolume] = field(default_factory=list)
    unbound: list[_Unbound] = field(default_factory=list)
    is_lacking: bool = False
    """True if a claim is bound to a volume that does not exist."""


class VolumeBinding:
    """Filters Nodes by volumes.

    Before it binds the Pod to the chosen Node, it binds claims to volumes, or requests that volumes are provisioned.
    """

    name: ClassVar[str] = "VolumeBinding"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.NODE_ADDED: always,
        ClusterEvent.NODE_LABELS: always,
        ClusterEvent.CLAIM_CHANGED: always,
        ClusterEvent.VOLUME_CHANGED: always,
        ClusterEvent.STORAGE_CHANGED: always,
        ClusterEvent.DRIVER_CHANGED: always,
        ClusterEvent.CAPACITY_CHANGED: always,
    }

    def __init__(self, storage: Storage, client: Client) -> None:
        self._storage = storage
        self._client = client
        self._taken: dict[str, str] = {}
        """UID of the claim for each volume that is being bound."""
        self._decided: dict[str, list[tuple[Claim, PersistentVolume | None]]] = {}
        """Planned bindings for each Pod that is being bound; None: the volume must be provisioned."""

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject Nodes that cannot access the volumes, or where they cannot be provisioned."""
        claims = self._claims(cycle.pod)
        if not (claims.bound or claims.unbound or claims.is_lacking):
            return None
        codes = cycle.zeros()
        nodes = cycle.nodes
        for row in np.flatnonzero(nodes.alive):
            codes[row] = self._code(claims, nodes, int(row))
        return np.where(codes != 0, codes | UNRESOLVABLE, 0)

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the messages."""
        return [reason for bit, reason in enumerate(_REASONS) if code >> bit & 1]

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return the unchanged code: other Pods do not matter."""
        codes = cycle.rejections.get(self.name)
        return 0 if codes is None else int(codes[what_if.row])

    def reserve(self, cycle: Cycle, pod: PodInfo) -> None:
        """Reserve the volumes for the Pod. Raises `Unschedulable`."""
        claims = self._claims(pod)
        row = cycle.nodes.row_of(pod.node_name)
        if not claims.unbound or row is None:
            return
        decided: list[tuple[Claim, PersistentVolume | None]] = []
        for each in claims.unbound:
            labels = cycle.nodes.labels(row)
            if code := each.code(pod.node_name, labels):
                raise Unschedulable(self.name, self.reasons(cycle, code)[0])
            volume = each.volume_on(pod.node_name, labels)
            if volume is not None:
                self._taken[volume.metadata.name] = each.claim.metadata.uid
            decided.append((each.claim, volume))
        self._decided[pod.uid] = decided

    def unreserve(self, cycle: Cycle, pod: PodInfo) -> None:
        """Release the reserved volumes."""
        for _, volume in self._decided.pop(pod.uid, ()):
            if volume is not None:
                self._taken.pop(volume.metadata.name, None)

    async def pre_bind(self, cycle: Cycle, pod: PodInfo) -> None:
        """Bind or provision the reserved volumes, and wait until all claims are bound. Raises `ClientError`."""
        decided = self._decided.get(pod.uid, [])
        for claim, volume in decided:
            if volume is None:
                await self._select_node(claim, pod.node_name)
            else:
                await self._bind(claim, volume)
        claims = self._client.resource(PERSISTENT_VOLUME_CLAIMS, namespace=pod.namespace)
        for claim, _ in decided:
            await wait_for(claims, claim.metadata.name, _is_bound, timeout_s=BIND_TIMEOUT_S)
        self.unreserve(cycle, pod)

    # One Node

    @staticmethod
    def _code(claims: _Claims, nodes: NodeTable, row: int) -> int:
        if claims.is_lacking:
            return _NO_SUCH_VOLUME
        name, labels = nodes.names[row], nodes.labels(row)
        if not all(reaches(volume, name, labels) for volume in claims.bound):
            return _NODE_CONFLICT
        # The first claim that cannot be provisioned is the reason, as in Kubernetes.
        return next((code for each in claims.unbound if (code := each.code(name, labels))), 0)

    def _claims(self, pod: PodInfo) -> _Claims:
        """Return the Pod's claims. Raises `Unschedulable` if they are usable on no Node."""
        found = _Claims()
        for claim in self._storage.claims_of(pod, self.name):
            if claim.is_bound:
                volume = self._storage.volume(claim.spec.volume_name)
                if volume is None:
                    found.is_lacking = True
                else:
                    found.bound.append(volume)
                continue
            storage_class = self._storage.storage_class(claim.spec.storage_class_name or "")
            if storage_class is None or not storage_class.waits_for_pod or claim.spec.volume_name:
                raise Unschedulable(self.name, "pod has unbound immediate PersistentVolumeClaims")
            found.unbound.append(_Unbound(claim, self._free(claim), storage_class, self._room(claim, storage_class)))
        return found

    def _free(self, claim: Claim) -> list[PersistentVolume]:
        """Return the free volumes that match a claim, the smallest first."""
        uid = claim.metadata.uid
        free = (each for each in self._storage.volumes() if self._taken.get(each.metadata.name, uid) == uid)
        return sorted((volume for volume in free if fits(volume, claim)), key=lambda volume: volume.storage)

    def _room(self, claim: Claim, storage_class: StorageClass) -> list[Selector] | None:
        name = claim.spec.storage_class_name or ""
        return self._storage.room(storage_class.provisioner, name, claim.storage)

    # Writing

    async def _select_node(self, claim: Claim, node_name: str) -> None:
        claims = self._client.resource(PERSISTENT_VOLUME_CLAIMS, namespace=claim.metadata.namespace)
        change = {"metadata": {"uid": claim.metadata.uid, "annotations": {SELECTED_NODE: node_name}}}
        await claims.patch(claim.metadata.name, MergePatch(change))

    async def _bind(self, claim: Claim, volume: PersistentVolume) -> None:
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": claim.metadata.namespace,
            "name": claim.metadata.name,
            "uid": claim.metadata.uid,
        }
        annotations = {"pv.kubernetes.io/bound-by-controller": "yes"}
        change = {"metadata": {"annotations": annotations}, "spec": {"claimRef": reference}}
        await self._client.resource(PERSISTENT_VOLUMES).patch(volume.metadata.name, MergePatch(change))


def _is_bound(claim: core_v1.PersistentVolumeClaim | None) -> bool:
    return claim is not None and (claim.get("status") or {}).get("phase") == "Bound"
