"""The controller of PersistentVolumes.

Source: kube-controller-manager pkg/controller/volume/persistentvolume/pv_controller.go `syncVolume`, `reclaimVolume`
(1.36).
"""

from __future__ import annotations

from sampan.client import Conflict, DeleteOptions, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.controllers.persistent_volumes.binding import VolumeBinder
from sampan.controllers.persistent_volumes.claims import COMPONENT
from sampan.controllers.persistent_volumes.matching import PROVISIONED_BY
from sampan.kinds import core_v1
from sampan.operator.request import Request, Result
from sampan.resource import meta


class VolumeReclaimer:
    """Writes the phase of volumes, and reclaims those whose claims are gone."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._claims = client.direct.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._cached_claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._recorder = context.recorder(COMPONENT)
        self._binding = VolumeBinder(context)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one volume. Raises `ApiError`, `TransportError`."""
        volume = await self._volumes.find(request)
        if volume is None:
            return None
        try:
            await self._update(volume)
        except (Conflict, NotFound):
            return None  # The event of that change queues the volume again.
        return None

    async def _update(self, volume: core_v1.PersistentVolume) -> None:
        reference = volume["spec"].get("claimRef") or {}
        if not reference.get("uid"):
            await self._binding.set_volume_phase(volume, "Available")
            return
        claim = await self._claim(reference)
        if claim is None:
            await self._release(volume)
            return
        name = claim["spec"].get("volumeName")
        if name == meta(volume).name:
            await self._binding.set_volume_phase(volume, "Bound")
        elif name and PROVISIONED_BY in meta(volume).annotations and _is_deleted_with_claim(volume):
            await self._release(volume)
        elif name:
            await self._binding.unbind(volume)

    async def _claim(self, reference: core_v1.ObjectReference) -> core_v1.PersistentVolumeClaim | None:
        """Return the claim of a volume, or None.

        A stale cache could lead to loss of data. So a claim that is not in the cache is read from the server.
        """
        request = Request(reference["namespace"], reference["name"])
        claim = await self._cached_claims.find(request)
        if claim is None or meta(claim).uid != reference["uid"]:
            try:
                claim = await self._claims.in_namespace(request.namespace).get(request.name)
            except NotFound:
                return None
        return claim if meta(claim).uid == reference["uid"] else None

    async def _release(self, volume: core_v1.PersistentVolume) -> None:
        phase = (volume.get("status") or {}).get("phase")
        if phase not in ("Released", "Failed"):
            await self._binding.set_volume_phase(volume, "Released")
            return  # The event of this write queues the volume again.
        policy = volume["spec"].get("persistentVolumeReclaimPolicy", "Retain")
        provisioner = meta(volume).annotations.get(PROVISIONED_BY)
        if policy == "Retain" or meta(volume).deletion_timestamp is not None:
            return
        if policy == "Delete" and volume["spec"].get("hostPath"):
            await self._volumes.delete(meta(volume).name, DeleteOptions(uid=meta(volume).uid))
        elif policy == "Recycle" or not provisioner:
            reason = "VolumeFailedDelete" if policy == "Delete" else "VolumeFailedRecycle"
            note = f"No volume plugin can {policy.lower()} it"
            if phase != "Failed":
                self._recorder.warning(volume, reason, note)
            await self._binding.set_volume_phase(volume, "Failed", note)


def _is_deleted_with_claim(volume: core_v1.PersistentVolume) -> bool:
    return bool(volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete")
