"""`Attacher`: attaches volumes to nodes and detaches them, as VolumeAttachments request.

Source: external-attacher pkg/controller/csi_handler.go, trivial_handler.go, util.go.
"""

from __future__ import annotations

from typing import Any, Final

from sampan.client import ApiError, MergePatch, NotFound, TransportError
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CSI_NODES, PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from sampan.core.time import timestamp
from sampan.csi.capabilities import volume_capability
from sampan.csi.errors import CsiError
from sampan.csi.names import attacher_finalizer
from sampan.csi.sidecar.changes import relevant_changes
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.secrets import secret_data
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.kinds import core_v1, storage_v1
from sampan.operator.predicates import Predicate
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import Object, meta

NODE_ID: Final = "csi.alpha.kubernetes.io/node-id"
"""Annotation with the node's ID, for a detachment after the driver was removed from the node."""


class CannotAttach(Exception):
    """A volume cannot be attached or detached now."""


class Attacher:
    """Reconciler of the VolumeAttachments of a driver."""

    def __init__(self, context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
        client = context.manager.client
        self._client = client.direct
        self._attachments = client.resource(VOLUME_ATTACHMENTS)
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._csi_nodes = client.resource(CSI_NODES)
        self._clock = context.clock
        self._driver = driver
        self._settings = settings
        self._finalizer = attacher_finalizer(driver.name)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one VolumeAttachment. Raises `ApiError`, `TransportError`, `RetryLater`."""
        attachment = await self._attachments.find(request)
        if attachment is None or attachment["spec"]["attacher"] != self._driver.name:
            return None
        status = attachment.get("status")
        if meta(attachment).deletion_timestamp is not None:
            if self._finalizer in meta(attachment).finalizers:
                await self._attempt(attachment, "detachError", self._detach)
        elif status and status.get("attached"):
            return None
        elif "PUBLISH_UNPUBLISH_VOLUME" not in self._driver.controller:
            await self._write_status(attachment, {"attached": True, "attachError": None})
        else:
            await self._attempt(attachment, "attachError", self._attach)
        return None

    async def _attempt(self, attachment: storage_v1.VolumeAttachment, field: str, act: Any) -> None:
        """Attach or detach. A failure is written to the status, and the call is retried later."""
        try:
            await act(attachment)
        except (CsiError, CannotAttach, ApiError, TransportError, ValueError) as error:
            described: dict[str, Any] = {"message": str(error), "time": timestamp(self._clock)}
            if field == "attachError":
                described["errorCode"] = error.code.value[0] if isinstance(error, CsiError) else None
            try:
                await self._write_status(attachment, {field: described})
            except NotFound:
                return
            raise RetryLater(f"failed to {field[:6]}: {error}") from error

    async def _attach(self, attachment: storage_v1.VolumeAttachment) -> None:
        """Attach a volume. Add the finalizer only after all steps that can fail, because it delays a deletion."""
        volume = await self._volume(attachment)
        if meta(volume).name and meta(volume).deletion_timestamp is not None:
            raise CannotAttach(f'PersistentVolume "{meta(volume).name}" is marked for deletion')
        if meta(volume).name and self._finalizer not in meta(volume).finalizers:
            await self._add_finalizer(self._volumes, volume)
        spec = volume["spec"]
        source = spec["csi"]
        capability = volume_capability(
            spec,
            spec.get("accessModes") or (),
            fs_type=source.get("fsType") or self._settings.default_fstype,
            single_node_multi_writer=self._driver.writes_on_one_node,
        )
        secrets = await self._secrets(source)
        node_id = await self._node_id(attachment, fallback=False)
        await self._mark(attachment, node_id)
        response = await self._driver.call(
            "ControllerPublishVolume",
            volume_id=source["volumeHandle"],
            node_id=node_id,
            volume_capability=capability,
            readonly=bool(source.get("readOnly")) and "PUBLISH_READONLY" in self._driver.controller,
            secrets=secrets,
            volume_context=source.get("volumeAttributes") or {},
        )
        metadata = dict(response.publish_context) or None
        await self._write_status(attachment, {"attached": True, "attachmentMetadata": metadata, "attachError": None})

    async def _detach(self, attachment: storage_v1.VolumeAttachment) -> None:
        source = (await self._volume(attachment))["spec"]["csi"]
        await self._driver.call(
            "ControllerUnpublishVolume",
            volume_id=source["volumeHandle"],
            node_id=await self._node_id(attachment, fallback=True),
            secrets=await self._secrets(source),
        )
        # Remove the finalizer first: with it, a status that is not attached would lead to another detachment.
        kept = [each for each in meta(attachment).finalizers if each != self._finalizer]
        try:
            await self._attachments.patch(meta(attachment).name, MergePatch({"metadata": {"finalizers": kept or None}}))
            await self._write_status(attachment, {"attached": False, "detachError": None, "attachmentMetadata": None})
        except NotFound:
            return

    async def _volume(self, attachment: storage_v1.VolumeAttachment) -> core_v1.PersistentVolume:
        """Return the volume; for an inline volume an object with only a spec."""
        source = attachment["spec"]["source"]
        name = source.get("persistentVolumeName")
        inline = source.get("inlineVolumeSpec")
        volume: core_v1.PersistentVolume | None
        if inline:
            volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {}, "spec": inline}
        else:
            volume = await self._volumes.find(Request("", name or ""))
        if volume is None:
            raise CannotAttach(f'persistentvolume "{name}" not found')
        csi = volume["spec"].get("csi")
        if csi is None or csi.get("driver") != self._driver.name:
            raise CannotAttach(f'persistentvolume "{name}" is not a volume of the driver {self._driver.name}')
        return volume

    async def _node_id(self, attachment: storage_v1.VolumeAttachment, *, fallback: bool) -> str:
        """Return the ID under which the driver has a node.

        `fallback`: use the ID in the attachment if the node has none.
        """
        name = attachment["spec"]["nodeName"]
        node = await self._csi_nodes.find(Request("", name))
        for driver in (node["spec"].get("drivers") or ()) if node is not None else ():
            if driver["name"] == self._driver.name:
                return str(driver["nodeID"])
        known = meta(attachment).annotations.get(NODE_ID)
        if fallback and known is not None:
            return known
        if node is None:
            raise CannotAttach(f'csinode.storage.k8s.io "{name}" not found')
        raise CannotAttach(f"CSINode {name} does not contain driver {self._driver.name}")

    async def _mark(self, attachment: storage_v1.VolumeAttachment, node_id: str) -> None:
        """Add the finalizer and the node's ID to an attachment, so that the volume is detached before the object is
        deleted.
        """
        metadata: dict[str, Any] = {}
        if self._finalizer not in meta(attachment).finalizers:
            metadata["finalizers"] = [*meta(attachment).finalizers, self._finalizer]
        if meta(attachment).annotations.get(NODE_ID) != node_id:
            metadata["annotations"] = {NODE_ID: node_id}
        if metadata:
            await self._attachments.patch(meta(attachment).name, MergePatch({"metadata": metadata}))

    async def _add_finalizer(self, client: Any, volume: core_v1.PersistentVolume) -> None:
        metadata = {
            "resourceVersion": meta(volume).resource_version,
            "finalizers": [*meta(volume).finalizers, self._finalizer],
        }
        await client.patch(meta(volume).name, MergePatch({"metadata": metadata}))

    async def _secrets(self, source: core_v1.CSIPersistentVolumeSource) -> dict[str, str]:
        return await secret_data(self._client, source.get("controllerPublishSecretRef"))

    async def _write_status(self, attachment: storage_v1.VolumeAttachment, status: Object) -> None:
        # An attachment without `attached` in its status would be invalid.
        before = attachment.get("status")
        base = {} if before and before.get("attached") is not None else {"attached": False}
        await self._attachments.status.patch(meta(attachment).name, MergePatch({"status": {**base, **status}}))


def attachment_changed() -> Predicate[Any]:
    """Return a predicate that drops updates which only record an error: failed calls have their own retry delay."""
    return relevant_changes(_relevant)


def _relevant(obj: Object) -> tuple[Any, ...]:
    metadata, status = obj["metadata"], obj.get("status") or {}
    fields = ("uid", "deletionTimestamp")
    return (*(metadata.get(field) for field in fields), status.get("attached"), obj["spec"])
