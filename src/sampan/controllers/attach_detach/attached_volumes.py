"""`AttachedVolumes`: writes `volumesAttached` of Nodes. A node mounts a volume only if the volume is in this list.

Concurrency: a lock orders the writes, because two controllers report: on changes, and before a volume is detached.

Source: kube-controller-manager pkg/controller/volume/attachdetach/statusupdater/node_status_updater.go (1.36).
"""

from __future__ import annotations

import asyncio

from sampan.client import MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES, PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from sampan.controllers.attach_detach.indexes import NODE_INDEX
from sampan.csi.names import unique_volume_name
from sampan.kinds import core_v1
from sampan.operator.request import Request, Result
from sampan.resource import meta


class AttachedVolumes:
    """Reconciler of Nodes: writes the attached volumes, except those that are about to be detached."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._nodes = client.resource(NODES)
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._attachments = client.resource(VOLUME_ATTACHMENTS)
        self._lock = asyncio.Lock()
        self.detaching: set[str] = set()
        """UIDs of VolumeAttachments that are about to be deleted: their volumes are not listed."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Node. Raises `ApiError`, `TransportError`."""
        await self.report(request.name)
        return None

    async def report(self, node_name: str) -> None:
        """Write `volumesAttached` of a Node if the Node exists and the list has changed.

        Raises `ApiError`, `TransportError`.
        """
        async with self._lock:
            node = await self._nodes.find(Request("", node_name))
            if node is None:
                return
            desired = await self._attached_to(node_name)
            status = node.get("status")
            if ((status.get("volumesAttached") if status else None) or []) == desired:
                return
            try:
                patch = MergePatch({"status": {"volumesAttached": desired or None}})
                await self._nodes.status.patch(node_name, patch)
            except NotFound:
                return

    async def _attached_to(self, node_name: str) -> list[core_v1.AttachedVolume]:
        found = set()
        for attachment in await self._attachments.by_index(NODE_INDEX, node_name):
            metadata = meta(attachment)
            status = attachment.get("status")
            attached = status is not None and status.get("attached", False)
            if not attached or metadata.deletion_timestamp is not None or metadata.uid in self.detaching:
                continue
            name = attachment["spec"]["source"].get("persistentVolumeName")
            volume = await self._volumes.find(Request("", name)) if name else None
            source = volume["spec"].get("csi") if volume is not None else None
            if source is not None:
                found.add(unique_volume_name(source["driver"], source["volumeHandle"]))
        return [{"name": name, "devicePath": ""} for name in sorted(found)]
