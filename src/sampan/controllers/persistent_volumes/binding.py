"""Writes that bind a volume and a claim. Each is skipped if it is done already.

The volume is written before the claim, so a binding that was interrupted at any point can be completed.

Source: kube-controller-manager pkg/controller/volume/persistentvolume/pv_controller.go `bind` (1.36).
"""

from __future__ import annotations

from typing import Any

from sampan.client import MergePatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.controllers.persistent_volumes.matching import BIND_COMPLETED, BOUND_BY_CONTROLLER, reference_to
from sampan.controllers.status import status_of, write_status
from sampan.kinds import core_v1
from sampan.resource import Object, meta


class VolumeBinder:
    """Writes volumes and claims. Writing an object that has changed since it was read raises `Conflict`."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")

    async def bind(self, volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim) -> None:
        """Bind a volume and a claim, or complete their binding. Raises `Conflict`, `ApiError`, `TransportError`."""
        volume = await self._reserve(volume, claim)
        await self.set_volume_phase(volume, "Bound")
        claim = await self._take(claim, volume)
        status = status_of(claim) | {
            "phase": "Bound",
            "accessModes": volume["spec"].get("accessModes") or [],
            "capacity": (claim.get("status") or {}).get("capacity") or volume["spec"].get("capacity") or {},
        }
        attributes = volume["spec"].get("volumeAttributesClassName")
        # Later changes belong to the driver's sidecar.
        if attributes and status_of(claim).get("phase") != "Bound":
            status["currentVolumeAttributesClassName"] = attributes
        await write_status(self._claims, claim, status, optimistic_lock=True)

    async def _reserve(
        self, volume: core_v1.PersistentVolume, claim: core_v1.PersistentVolumeClaim
    ) -> core_v1.PersistentVolume:
        before = volume["spec"].get("claimRef") or {}
        if before.get("uid") == meta(claim).uid:
            return volume
        change: dict[str, Any] = {"spec": {"claimRef": reference_to(claim)}}
        annotations = {} if before else {BOUND_BY_CONTROLLER: "yes"}
        return await self._patch_volume(volume, change, annotations)

    async def _take(
        self, claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume
    ) -> core_v1.PersistentVolumeClaim:
        name, annotations = meta(volume).name, dict[str, str | None]()
        if claim["spec"].get("volumeName") != name:
            annotations[BOUND_BY_CONTROLLER] = "yes"
        if meta(claim).annotations.get(BIND_COMPLETED) != "yes":
            annotations[BIND_COMPLETED] = "yes"
        if not annotations:
            return claim
        metadata = {"resourceVersion": meta(claim).resource_version, "annotations": annotations}
        patch = MergePatch({"metadata": metadata, "spec": {"volumeName": name}})
        return await self._claims.in_namespace(meta(claim).namespace).patch(meta(claim).name, patch)

    async def unbind(self, volume: core_v1.PersistentVolume) -> None:
        """Release a volume whose claim is bound to another volume.

        If a user had reserved the volume for the claim, the reservation stays.
        """
        by_controller = BOUND_BY_CONTROLLER in meta(volume).annotations
        freed: Any = None if by_controller else {"uid": None, "resourceVersion": None}
        volume = await self._patch_volume(volume, {"spec": {"claimRef": freed}}, {BOUND_BY_CONTROLLER: None})
        await self.set_volume_phase(volume, "Available")

    async def set_volume_phase(self, volume: core_v1.PersistentVolume, phase: str, message: str = "") -> None:
        """Write the phase of a volume and the reason for it."""
        status = status_of(volume) | {"phase": phase}
        status.pop("message", None)
        if message:
            status["message"] = message
        await write_status(self._volumes, volume, status, optimistic_lock=True)

    async def set_claim_phase(self, claim: core_v1.PersistentVolumeClaim, phase: str) -> None:
        """Write the phase of a claim without volume."""
        status = {name: value for name, value in status_of(claim).items() if name not in ("accessModes", "capacity")}
        kept = status if phase == "Pending" else status_of(claim)
        await write_status(self._claims, claim, kept | {"phase": phase}, optimistic_lock=True)

    async def _patch_volume(
        self, volume: core_v1.PersistentVolume, change: Object, annotations: dict[str, Any]
    ) -> core_v1.PersistentVolume:
        metadata: dict[str, Any] = {"resourceVersion": meta(volume).resource_version}
        if annotations:
            metadata["annotations"] = annotations
        return await self._volumes.patch(meta(volume).name, MergePatch({"metadata": metadata, **change}))
