"""Deletion of volumes: the node that has the directory deletes it, then the volume disappears.

A volume of a node that is away stays, with an event, until the node is back. The data of a Node that was deleted is out
of reach, so its volumes disappear at once, with an event.
"""

from __future__ import annotations

from typing import Any, Final

from sampan.client import Conflict, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import (
    DRIVER,
    FINALIZER,
    PROTECTION,
    TO_DELETE,
    deleted,
    is_to_delete,
    node_of,
    to_delete_text,
)
from sampan.component_base.pod_networks import RUNTIME_LABEL
from sampan.component_base.resources import NODES, PERSISTENT_VOLUMES
from sampan.controllers.local_path.provisioning import COMPONENT
from sampan.controllers.status import find_status_condition
from sampan.core.pods.simulated import RUNTIME
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.request import Request, Result
from sampan.resource import meta

NODE_INDEX: Final = "local-path-node"
"""Index of PersistentVolumes by the node of their directories."""
_MARK: Final = DRIVER.encode()


def nodes_of_volume(ref: Ref[Any]) -> list[str]:
    """Index function of `NODE_INDEX`."""
    node = node_of(ref.decode()) if _MARK in ref.raw else ""
    return [node] if node else []


class VolumeDeleter:
    """Deletes released volumes, and removes the finalizer of those whose directories are deleted or out of reach."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._nodes = client.direct.resource(NODES)
        self._recorder = context.recorder(COMPONENT)
        self._waiting: set[str] = set()
        """UIDs of volumes whose event about a node that is away is recorded."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one volume. Raises `ApiError`, `TransportError`."""
        volume = await self._volumes.find(request)
        node = "" if volume is None else node_of(volume)
        if volume is None or not node:
            return None
        try:
            await self._update(volume, node)
        except (Conflict, NotFound):
            return None  # The event of that change queues the volume again.
        return None

    async def _update(self, volume: core_v1.PersistentVolume, node: str) -> None:
        metadata, spec = meta(volume), volume["spec"]
        policy, phase = spec.get("persistentVolumeReclaimPolicy"), (volume.get("status") or {}).get("phase")
        if metadata.deletion_timestamp is None:
            if policy == "Delete" and phase == "Released":
                await self._volumes.delete(metadata.name, DeleteOptions(uid=metadata.uid))
        elif FINALIZER in metadata.finalizers and PROTECTION not in metadata.finalizers:
            if is_to_delete(volume):
                await self._await_node(volume, node)
            elif policy != "Delete" or phase == "Available":
                await self._forget(volume)

    async def _await_node(self, volume: core_v1.PersistentVolume, name: str) -> None:
        """Remove the finalizer if the node has deleted the directory, or never will."""
        try:
            node = await self._nodes.get(name)
        except NotFound:
            note = f'node "{name}" was deleted: if its machine still has the data of this volume, it stays there'
            self._recorder.warning(volume, "VolumeDataLeft", note)
            await self._forget(volume)
            return
        uid = meta(volume).uid
        if uid in deleted(meta(node).annotations) or meta(node).labels.get(RUNTIME_LABEL) == RUNTIME:
            await self._forget(volume)
            self._waiting.discard(uid)
        elif not _is_ready(node) and uid not in self._waiting:
            note = f'node "{name}" is not ready: it deletes the data of this volume when it is back'
            self._recorder.warning(volume, "WaitingForNode", note)
            self._waiting.add(uid)

    async def _forget(self, volume: core_v1.PersistentVolume) -> None:
        metadata = meta(volume)
        finalizers = [each for each in metadata.finalizers if each != FINALIZER]
        change = {"metadata": {"resourceVersion": metadata.resource_version, "finalizers": finalizers or None}}
        await self._volumes.patch(metadata.name, MergePatch(change))


class NodeLists:
    """Keeps the annotation of each Node with the volumes whose directories it must delete."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._nodes = client.resource(NODES)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Node. Raises `ApiError`, `TransportError`."""
        node = await self._nodes.find(request)
        if node is None:
            return None
        volumes = await self._volumes.by_index(NODE_INDEX, request.name)
        text = to_delete_text({meta(each).name: meta(each).uid for each in volumes if is_to_delete(each)})
        if meta(node).annotations.get(TO_DELETE) == text:
            return None
        try:
            await self._nodes.patch(request.name, MergePatch({"metadata": {"annotations": {TO_DELETE: text}}}))
        except NotFound:
            return None
        return None


def _is_ready(node: core_v1.Node) -> bool:
    condition = find_status_condition(node.get("status"), "Ready") or {}
    return bool(condition.get("status") == "True")
