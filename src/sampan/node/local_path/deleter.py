"""`LocalDeleter`: deletes the directories of volumes that the control loop lists in an annotation of the Node.

The list is only a hint. The node reads each volume and verifies it: its UID, its node, and that it is being deleted
without a claim. So a client that can write Nodes deletes no data.

Concurrency: a controller of the manager, with one worker; directories are deleted in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from sampan.client import Forbidden, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import DELETED, TO_DELETE, deleted, deleted_text, is_to_delete, listed, node_of
from sampan.component_base.resources import NODES, PERSISTENT_VOLUMES
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.kinds import core_v1
from sampan.node.local_path.directories import LocalDirectories
from sampan.operator.controller import Controller, ControllerOptions
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource
from sampan.resource import meta

RETRY_S: Final = 30.0
_MARKS: Final = (TO_DELETE.encode(), DELETED.encode())

_log = logging.getLogger("sampan.node")


class LocalDeleter:
    """Deletes directories of one node, and reports them in another annotation."""

    def __init__(self, context: ControllerContext, nodes: SharedInformer[Any], name: str, root: Path) -> None:
        """`nodes`: informer of Nodes; it may also contain other Nodes. `name`, `root`: of this node."""
        client = context.manager.client.direct
        self._name = name
        self._directories = LocalDirectories(root)
        self._nodes = client.resource(NODES)
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._informer = nodes
        self._recorder = context.recorder("kubelet")
        options = ControllerOptions(needs_leader_election=False)
        controller: Controller = context.manager.new_controller("local-path-directories", self.reconcile, options)
        controller.watch(KindSource(nodes, self._requests))

    async def reconcile(self, request: Request) -> Result | None:
        """Delete the listed directories. Raises `ApiError`, `TransportError`."""
        ref = self._informer.indexer.get(request.key)
        if ref is None:
            return None
        annotations = ref.annotations
        desired, before = listed(annotations), deleted(annotations)
        gone = before & set(desired.values())
        has_failed = False
        for name, uid in desired.items():
            if uid not in gone:
                volume = await self._verified(name, uid)
                if volume is not None and await self._remove(volume):
                    gone.add(uid)
                has_failed |= volume is not None and uid not in gone
        if gone ^ before:
            change = {"metadata": {"annotations": {DELETED: deleted_text(gone)}}}
            try:
                await self._nodes.patch(self._name, MergePatch(change))
            except NotFound:
                return None
        return Result(RETRY_S) if has_failed else None

    async def _verified(self, name: str, uid: str) -> core_v1.PersistentVolume | None:
        """Return a volume whose directory this node must delete; None for any other volume."""
        try:
            volume = await self._volumes.get(name)
        except (NotFound, Forbidden, ValueError):
            return None  # It does not exist any more, is none of this node, or cannot be a name.
        is_expected = meta(volume).uid == uid and node_of(volume) == self._name and is_to_delete(volume)
        return volume if is_expected else None

    async def _remove(self, volume: core_v1.PersistentVolume) -> bool:
        uid = meta(volume).uid
        try:
            is_gone = await asyncio.to_thread(self._directories.remove, uid)
        except (OSError, ValueError) as error:
            self._report(volume, str(error))
            return False
        if is_gone:
            _log.info("directory of a volume deleted", extra={"volume": meta(volume).name, "uid": uid})
        else:
            self._report(volume, "some of its files cannot be deleted, or another file system is mounted in it")
        return is_gone

    def _report(self, volume: core_v1.PersistentVolume, reason: str) -> None:
        note = f"cannot delete the directory of the volume, retrying: {reason}"
        self._recorder.warning(volume, "VolumeFailedDelete", note)

    def _requests(self, ref: Ref[Any]) -> Iterable[Request]:
        is_concerned = ref.name == self._name and any(mark in ref.raw for mark in _MARKS)
        return (Request.of_key(ref.key),) if is_concerned else ()
