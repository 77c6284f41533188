"""The controller of PersistentVolumeClaims.

Source: kube-controller-manager pkg/controller/volume/persistentvolume/pv_controller.go `syncClaim` (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.client import AlreadyExists, Conflict, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES
from sampan.controllers.persistent_volumes.binding import VolumeBinder
from sampan.controllers.persistent_volumes.host_path import PROVISIONER, volume_for
from sampan.controllers.persistent_volumes.matching import (
    BIND_COMPLETED,
    PROVISIONER_ANNOTATIONS,
    SELECTED_NODE,
    best_match,
    class_of,
    is_bound_to,
    mismatch,
    names_class,
)
from sampan.controllers.persistent_volumes.provisioned import volume_name
from sampan.core.default_class import DEFAULT_STORAGE, newest_default
from sampan.kinds import core_v1, storage_v1
from sampan.operator.request import Request, Result
from sampan.resource import meta

COMPONENT: Final = "persistentvolume-controller"


class ClaimBinder:
    """Finds or provisions volumes for claims and binds them."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._classes = client.resource(STORAGE_CLASSES)
        self._nodes = context.informer(NODES).indexer
        self._recorder = context.recorder(COMPONENT)
        self._binding = VolumeBinder(context)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one claim. Raises `ApiError`, `TransportError`."""
        claim = await self._claims.find(request)
        if claim is None:
            return None
        try:
            if BIND_COMPLETED in meta(claim).annotations:
                await self._check(claim)
            elif claim["spec"].get("volumeName"):
                await self._bind_named(claim)
            elif meta(claim).deletion_timestamp is None:
                await self._bind_any(claim)
        except (Conflict, NotFound):
            # The change queues the claim again only if it is the claim's own. A volume may have been bound to another
            # claim.
            return Result(0.1)
        return None

    async def _bind_any(self, claim: core_v1.PersistentVolumeClaim) -> None:
        storage_class = await self._class_of(claim)
        waits = storage_class is not None and storage_class.get("volumeBindingMode") == "WaitForFirstConsumer"
        selected = meta(claim).annotations.get(SELECTED_NODE, "")
        volumes = await self._volumes.list()
        volume = best_match(volumes, claim, wait=waits)
        if volume is not None:
            await self._binding.bind(volume, claim)
            return
        if not names_class(claim) and await self._name_default_class(claim):
            return
        if waits and not selected:
            note = "waiting for first consumer to be created before binding"
            self._recorder.normal(claim, "WaitForFirstConsumer", note)
        elif class_of(claim):
            claim = await self._provision(claim, storage_class, selected)
        else:
            note = "no persistent volumes available for this claim and no storage class is set"
            self._recorder.normal(claim, "FailedBinding", note)
        await self._binding.set_claim_phase(claim, "Pending")

    async def _name_default_class(self, claim: core_v1.PersistentVolumeClaim) -> bool:
        """Set the class of the claim to the current default class. Return False if there is none.

        The update queues the claim again.
        """
        default = newest_default(await self._classes.list(), DEFAULT_STORAGE)
        if default is None:
            return False
        await self._claims.update({**claim, "spec": {**claim["spec"], "storageClassName": default}})
        return True

    async def _bind_named(self, claim: core_v1.PersistentVolumeClaim) -> None:
        volume = await self._volumes.find(Request("", claim["spec"]["volumeName"]))
        if volume is None:
            await self._binding.set_claim_phase(claim, "Pending")
            return
        name = meta(volume).name
        if volume["spec"].get("claimRef"):
            if is_bound_to(volume, claim):
                await self._binding.bind(volume, claim)
                return
            note = f'volume "{name}" already bound to a different claim.'
            self._recorder.warning(claim, "FailedBinding", note)
        else:
            reason = mismatch(volume, claim)
            if not reason:
                await self._binding.bind(volume, claim)
                return
            self._recorder.warning(claim, "VolumeMismatch", f'Cannot bind to requested volume "{name}": {reason}')
        await self._binding.set_claim_phase(claim, "Pending")

    async def _check(self, claim: core_v1.PersistentVolumeClaim) -> None:
        """Check a bound claim: its volume must exist and reference it."""
        name = claim["spec"].get("volumeName")
        if not name:
            await self._lose(claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume.")
            return
        volume = await self._volumes.find(Request("", name))
        if volume is None:
            await self._lose(claim, "ClaimLost", "Bound claim has lost its PersistentVolume.")
        elif not volume["spec"].get("claimRef") or is_bound_to(volume, claim):
            await self._binding.bind(volume, claim)
        else:
            note = "Two claims are bound to the same volume, this one is bound incorrectly"
            await self._lose(claim, "ClaimMisbound", note, data=False)

    async def _lose(self, claim: core_v1.PersistentVolumeClaim, reason: str, note: str, *, data: bool = True) -> None:
        if (claim.get("status") or {}).get("phase") == "Lost":
            return
        self._recorder.warning(claim, reason, f"{note} Data on the volume is lost!" if data else note)
        await self._binding.set_claim_phase(claim, "Lost")

    async def _provision(
        self, claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass | None, node_name: str
    ) -> core_v1.PersistentVolumeClaim:
        """Provision a volume, or request it from an external provisioner. Return the updated claim."""
        if storage_class is None:
            note = f'storageclass.storage.k8s.io "{class_of(claim)}" not found'
            self._recorder.warning(claim, "ProvisioningFailed", note)
            return claim
        provisioner = storage_class.get("provisioner", "")
        if provisioner == PROVISIONER:
            await self._provision_directory(claim, storage_class, node_name)
            return claim
        if provisioner == "kubernetes.io/no-provisioner":
            return claim
        claim = await self._assign(claim, provisioner)
        self._record_external(claim, provisioner)
        return claim

    async def _provision_directory(
        self, claim: core_v1.PersistentVolumeClaim, storage_class: storage_v1.StorageClass, node_name: str
    ) -> None:
        if claim["spec"].get("selector") is not None:
            self._recorder.warning(claim, "ProvisioningFailed", "claim.Spec.Selector is not supported for provisioning")
            return
        node = self._nodes.get(node_name) if node_name else None
        hostname = node.labels.get("kubernetes.io/hostname", node_name) if node is not None else node_name
        try:
            await self._volumes.create(volume_for(claim, storage_class, hostname))
        except AlreadyExists:
            return
        note = f"Successfully provisioned volume {volume_name(claim)} using {PROVISIONER}"
        self._recorder.normal(claim, "ProvisioningSucceeded", note)

    async def _assign(self, claim: core_v1.PersistentVolumeClaim, provisioner: str) -> core_v1.PersistentVolumeClaim:
        """Write the name of the external provisioner to the claim's annotations. Return the updated claim."""
        names = dict.fromkeys(PROVISIONER_ANNOTATIONS, provisioner)
        if names.items() <= meta(claim).annotations.items():
            return claim
        metadata = {"resourceVersion": meta(claim).resource_version, "annotations": names}
        client = self._claims.in_namespace(meta(claim).namespace)
        return await client.patch(meta(claim).name, MergePatch({"metadata": metadata}))

    def _record_external(self, claim: core_v1.PersistentVolumeClaim, provisioner: str) -> None:
        note = (
            "Waiting for a volume to be created either by the external provisioner "
            f"'{provisioner}' or manually by the system administrator. If volume creation is delayed, please verify "
            "that the provisioner is running and correctly registered."
        )
        self._recorder.normal(claim, "ExternalProvisioning", note)

    async def _class_of(self, claim: core_v1.PersistentVolumeClaim) -> storage_v1.StorageClass | None:
        name = class_of(claim)
        return await self._classes.find(Request("", name)) if name else None
