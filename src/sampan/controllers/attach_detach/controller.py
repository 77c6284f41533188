"""`AttachDetach`: reconciles one PersistentVolume with the Pods that need it.

All permanent state is in the API objects. A restart loses only the wait times and the record of past events.

Source: kube-controller-manager pkg/controller/volume/attachdetach/reconciler/reconciler.go; pkg/volume/csi/
csi_attacher.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import AlreadyExists, ApiError, Conflict, DeleteOptions, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import (
    CSI_DRIVERS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    VOLUME_ATTACHMENTS,
)
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.attach_detach.attached_volumes import AttachedVolumes
from sampan.controllers.attach_detach.demand import by_node, is_bound, is_exclusive, multi_attach_note
from sampan.controllers.volumes.volume_protection import CLAIM_INDEX
from sampan.csi.attachments import VOLUME_INDEX
from sampan.csi.names import attachment_name, unique_volume_name
from sampan.kinds import core_v1, storage_v1
from sampan.operator.request import Request, Result
from sampan.resource import Object, meta

COMPONENT: Final = "attachdetach-controller"

_OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
_FORCE_AFTER_S: Final = 6 * 60.0
"""Time after which a volume is detached from an unhealthy node that has not unmounted it."""


class AttachDetach:
    """Creates VolumeAttachments for the nodes whose Pods need a volume, and deletes unneeded ones."""

    def __init__(self, context: ControllerContext, attached: AttachedVolumes) -> None:
        client = context.manager.client
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._attachments = client.resource(VOLUME_ATTACHMENTS)
        self._drivers = client.resource(CSI_DRIVERS)
        self._pods = client.resource(POD_VIEW, namespace="")
        self._nodes = client.resource(NODES)
        self._live_nodes = client.direct.resource(NODES)
        self._recorder = context.recorder(COMPONENT)
        self._clock = context.clock
        self._attached = attached
        self._states: dict[str, VolumeState] = {}

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one volume. Raises `ApiError`, `TransportError`."""
        volume = await self._volumes.find(request)
        source = volume["spec"].get("csi") if volume is not None else None
        if volume is None or source is None:
            self._states.pop(request.name, None)
            return None
        desired = by_node(await self._users(volume, source["driver"]))
        attachments = await self._attachments_of(volume)
        state = self._states.setdefault(request.name, VolumeState())
        state.keep([meta(each).uid for each in attachments.values()], desired)
        self._report(volume, attachments, desired, state)
        waits = [
            await self._detach(volume, node, attachment, state)
            for node, attachment in attachments.items()
            if node not in desired
        ]
        await self._attach(volume, attachments, desired, state)
        if not desired and not attachments:
            self._states.pop(request.name, None)
        due = [wait for wait in waits if wait > 0]
        return Result(min(due)) if due else None

    async def _users(self, volume: core_v1.PersistentVolume, driver: str) -> Sequence[Pod]:
        """Return the Pods that use a volume; none if its driver needs no attachment."""
        found = await self._drivers.find(Request("", driver))
        if found is not None and found["spec"].get("attachRequired") is False:
            return ()
        reference = volume["spec"].get("claimRef") or {}
        if not reference.get("name"):
            return ()
        request = Request(reference["namespace"], reference["name"])
        claim = await self._claims.find(request)
        if claim is None or not is_bound(volume, claim):
            return ()
        return await self._pods.by_index(CLAIM_INDEX, request.key)

    async def _attachments_of(self, volume: core_v1.PersistentVolume) -> dict[str, storage_v1.VolumeAttachment]:
        """Return the VolumeAttachments of a volume by node.

        Those with other names than this controller assigns are left out: another program created them.
        """
        source, found = volume["spec"]["csi"], {}
        for each in await self._attachments.by_index(VOLUME_INDEX, meta(volume).name):
            node = each["spec"]["nodeName"]
            if meta(each).name == attachment_name(source["driver"], source["volumeHandle"], node):
                found[node] = each
        return found

    def _report(
        self,
        volume: core_v1.PersistentVolume,
        attachments: Mapping[str, storage_v1.VolumeAttachment],
        desired: Mapping[str, Sequence[Pod]],
        state: VolumeState,
    ) -> None:
        """Record events for the Pods about attachments that have succeeded or failed since the last reconcile."""
        name = meta(volume).name
        for node, attachment in attachments.items():
            uid, status = meta(attachment).uid, attachment.get("status")
            pods = desired.get(node, ())
            if node in desired:
                state.unneeded_since.pop(uid, None)
            if status and status.get("attached"):
                if uid in state.pending:
                    note = f'AttachVolume.Attach succeeded for volume "{name}" '
                    self._record(pods, "SuccessfulAttachVolume", note, normal=True)
                state.pending.discard(uid)
                continue
            state.pending.add(uid)
            error = (status.get("attachError") if status else None) or {}
            if error and state.errors.get(uid) != error.get("time", ""):
                state.errors[uid] = error.get("time", "")
                note = f'AttachVolume.Attach failed for volume "{name}" : {error.get("message", "")}'
                self._record(pods, "FailedAttachVolume", note)

    async def _attach(
        self,
        volume: core_v1.PersistentVolume,
        attachments: dict[str, storage_v1.VolumeAttachment],
        desired: Mapping[str, Sequence[Pod]],
        state: VolumeState,
    ) -> None:
        for node, pods in desired.items():
            if node in attachments:
                continue  # If it is being deleted, it must be gone before a new one is created.
            others = attachments.keys() - {node}
            if others and is_exclusive(volume):
                if node not in state.refused:
                    state.refused.add(node)
                    self._refuse(volume, pods, [pod for other in others for pod in desired.get(other, ())])
                continue
            state.refused.discard(node)
            attachments[node] = await self._create(volume, node, pods, state)

    def _refuse(self, volume: core_v1.PersistentVolume, pods: Iterable[Pod], others: Sequence[Pod]) -> None:
        for pod in pods:
            self._record([pod], "FailedAttachVolume", multi_attach_note(meta(volume).name, pod, others))

    async def _create(
        self, volume: core_v1.PersistentVolume, node: str, pods: Sequence[Pod], state: VolumeState
    ) -> storage_v1.VolumeAttachment:
        source, name = volume["spec"]["csi"], meta(volume).name
        attachment: storage_v1.VolumeAttachment = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "VolumeAttachment",
            "metadata": {"name": attachment_name(source["driver"], source["volumeHandle"], node)},
            "spec": {"attacher": source["driver"], "nodeName": node, "source": {"persistentVolumeName": name}},
        }
        try:
            made = await self._attachments.create(attachment)
        except AlreadyExists:
            return attachment  # The cache is behind: the event of that object queues the volume again.
        except ApiError as error:
            self._record(pods, "FailedAttachVolume", f'AttachVolume.Attach failed for volume "{name}" : {error}')
            raise
        state.pending.add(meta(made).uid)
        return made

    async def _detach(
        self,
        volume: core_v1.PersistentVolume,
        node_name: str,
        attachment: storage_v1.VolumeAttachment,
        state: VolumeState,
    ) -> float:
        """Delete a VolumeAttachment if the node no longer uses the volume. Return the seconds until the next check."""
        if meta(attachment).deletion_timestamp is not None:
            return 0.0
        uid, now = meta(attachment).uid, self._clock.now()
        waited_s = (now - state.unneeded_since.setdefault(uid, now)).total_seconds()
        source = volume["spec"]["csi"]
        unique = unique_volume_name(source["driver"], source["volumeHandle"])
        node = await self._nodes.find(Request("", node_name))
        if not _may_detach(node, unique, waited_s):
            return _FORCE_AFTER_S - waited_s
        # The node must not start to mount the volume now. So the volume is removed from `volumesAttached` first, and
        # then `volumesInUse` is read again: a node writes `volumesInUse` before it reads `volumesAttached`.
        self._attached.detaching.add(uid)
        try:
            await self._attached.report(node_name)
            if _needs_no_check(node, waited_s) or not await self._is_in_use(node_name, unique):
                await self._delete(attachment)
                return 0.0
        finally:
            self._attached.detaching.discard(uid)
        await self._attached.report(node_name)
        return 0.0

    async def _is_in_use(self, node_name: str, volume: str) -> bool:
        try:
            return _is_in_use(await self._live_nodes.get(node_name), volume)
        except NotFound:
            return False

    async def _delete(self, attachment: storage_v1.VolumeAttachment) -> None:
        try:
            await self._attachments.delete(meta(attachment).name, DeleteOptions(uid=meta(attachment).uid))
        except (NotFound, Conflict):
            return

    def _record(self, pods: Iterable[Pod], reason: str, note: str, *, normal: bool = False) -> None:
        for pod in pods:
            record: Any = self._recorder.normal if normal else self._recorder.warning
            record(_named(pod), reason, note)


def _named(pod: Pod) -> Object:
    metadata = {"name": pod.metadata.name, "namespace": pod.metadata.namespace, "uid": pod.metadata.uid}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


@dataclass(slots=True)
class VolumeState:
    """Times and reports about the attachments of a volume, by the UIDs of its VolumeAttachments."""

    unneeded_since: dict[str, dt.datetime] = field(default_factory=dict)
    """Time since which no Pod has needed an attachment."""
    pending: set[str] = field(default_factory=set)
    """Attachments observed before they succeeded. Their success is recorded as an event."""
    errors: dict[str, str] = field(default_factory=dict)
    """Time of the last reported error of an attachment."""
    refused: set[str] = field(default_factory=set)
    """Nodes whose Pods have been notified that the volume is attached to another node."""

    def keep(self, uids: Iterable[str], nodes: Iterable[str]) -> None:
        """Drop the state of all other attachments and nodes."""
        present = set(uids)
        self.pending &= present
        self.refused &= set(nodes)
        for times in (self.unneeded_since, self.errors):
            for uid in times.keys() - present:
                del times[uid]


def _is_in_use(node: core_v1.Node | None, volume: str) -> bool:
    """Return True if the node may have the volume mounted. For a deleted Node this is unknown, so it is True."""
    status = node.get("status") if node is not None else None
    return node is None or volume in ((status.get("volumesInUse") if status else None) or ())


def _is_healthy(node: core_v1.Node | None) -> bool:
    """Return True if the node is ready."""
    status = node.get("status") if node is not None else None
    conditions = (status.get("conditions") if status else None) or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _is_out_of_service(node: core_v1.Node | None) -> bool:
    """Return True if an administrator has declared that the machine is shut down."""
    spec = node.get("spec") if node is not None else None
    taints = (spec.get("taints") if spec else None) or ()
    return any(taint.get("key") == _OUT_OF_SERVICE for taint in taints)


def _may_detach(node: core_v1.Node | None, volume: str, waited_s: float) -> bool:
    """Return True if a volume that no Pod needs any more may be detached from a node."""
    if not _is_in_use(node, volume) or _is_out_of_service(node):
        return True
    return waited_s >= _FORCE_AFTER_S and not _is_healthy(node)


def _needs_no_check(node: core_v1.Node | None, waited_s: float) -> bool:
    """Return True if the volume may be detached without reading the current `volumesInUse` of the node."""
    return waited_s >= _FORCE_AFTER_S or _is_out_of_service(node)
