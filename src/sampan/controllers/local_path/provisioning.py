"""Creation of volumes for claims.

Source: sig-storage-lib-external-provisioner controller/controller.go `syncClaim`, `provisionClaimOperation` (v13).
"""

from __future__ import annotations

from typing import Final

from sampan.client import AlreadyExists, Conflict, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import DRIVER, FINALIZER, NODE, PROVISIONER
from sampan.component_base.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from sampan.controllers.local_path.storage_class import create_driver
from sampan.controllers.persistent_volumes.matching import PROVISIONER_ANNOTATIONS, SELECTED_NODE, class_of
from sampan.controllers.persistent_volumes.provisioned import provisioned_volume, volume_name
from sampan.kinds import core_v1, storage_v1
from sampan.operator.request import Request, Result
from sampan.resource import meta

COMPONENT: Final = "local-path-controller"
_MODES: Final = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})


class ClaimProvisioner:
    """Creates the volumes of claims whose class has the provisioner, on the nodes that the scheduler selects."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._client = client
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._classes = client.resource(STORAGE_CLASSES)
        self._nodes = client.resource(NODES)
        self._recorder = context.recorder(COMPONENT)
        self._driver_exists = False

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one claim. Raises `ApiError`, `TransportError`."""
        claim = await self._claims.find(request)
        if claim is None or not is_waiting(claim):
            return None
        storage_class = await self._classes.find(Request("", class_of(claim)))
        if storage_class is None or storage_class.get("provisioner") != PROVISIONER:
            return None
        refused = refusal(claim, storage_class)
        if refused:
            self._recorder.warning(claim, "ProvisioningFailed", refused)
            return None
        selected = meta(claim).annotations.get(SELECTED_NODE, "")
        if not selected:
            return None
        node = await self._nodes.find(Request("", selected))
        if node is None:
            await self._select_again(claim, selected)
            return None
        await self._create(claim, storage_class, node)
        return None

    async def _create(
        self, claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass, node: core_v1.Node
    ) -> None:
        if not self._driver_exists:
            await create_driver(self._client.direct)
            self._driver_exists = True
        name = volume_name(claim)
        source: core_v1.PersistentVolumeSpec = {
            "csi": {"driver": DRIVER, "volumeHandle": name, "volumeAttributes": {NODE: meta(node).name}}
        }
        hostname = meta(node).labels.get("kubernetes.io/hostname", meta(node).name)
        volume = provisioned_volume(claim, storage_class, source, hostname=hostname, finalizers=(FINALIZER,))
        try:
            await self._volumes.create(volume)
        except AlreadyExists:
            return
        self._recorder.normal(claim, "ProvisioningSucceeded", f"Successfully provisioned volume {name}")

    async def _select_again(self, claim: core_v1.PersistentVolumeClaim, node: str) -> None:
        """Remove the selected node, which does not exist any more, so that the scheduler selects another one."""
        self._recorder.warning(claim, "ProvisioningFailed", f'the selected node "{node}" does not exist')
        annotations = {SELECTED_NODE: None}
        change = {"metadata": {"resourceVersion": meta(claim).resource_version, "annotations": annotations}}
        try:
            await self._claims.in_namespace(meta(claim).namespace).patch(meta(claim).name, MergePatch(change))
        except (Conflict, NotFound):
            return  # The event of that change queues the claim again.


def is_waiting(claim: core_v1.PersistentVolumeClaim) -> bool:
    """Return whether a claim waits for a volume of this provisioner."""
    annotations = meta(claim).annotations
    return (
        not claim["spec"].get("volumeName")
        and meta(claim).deletion_timestamp is None
        and any(annotations.get(name) == PROVISIONER for name in PROVISIONER_ANNOTATIONS)
    )


def refusal(claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass) -> str:
    """Return the reason why a claim can get no directory; empty if it can."""
    spec = claim["spec"]
    refused = [mode for mode in spec.get("accessModes") or () if mode not in _MODES]
    if refused:
        return (
            f"a directory of one node does not support the access mode {refused[0]}: use ReadWriteOnce or "
            "ReadWriteOncePod, or a StorageClass of shared storage"
        )
    if spec.get("volumeMode") == "Block":
        return "a directory is no block device: use volumeMode Filesystem"
    if spec.get("selector") is not None:
        return "claim.Spec.Selector is not supported for provisioning"
    if spec.get("dataSource") or spec.get("dataSourceRef"):
        return "a directory cannot be created from a data source"
    if storage_class.get("volumeBindingMode") != "WaitForFirstConsumer":
        return f'StorageClass "{meta(storage_class).name}" needs volumeBindingMode: WaitForFirstConsumer'
    return ""
