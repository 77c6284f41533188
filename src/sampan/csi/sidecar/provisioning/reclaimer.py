"""`Reclaimer`: deletes volumes that their claims have released.

Source: external-provisioner pkg/controller/controller.go `Delete`; sig-storage-lib-external-provisioner
controller/controller.go `deleteVolumeOperation`, `handleProtectionFinalizer`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from sampan.client import ApiError, Conflict, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from sampan.csi.attachments import VOLUME_INDEX
from sampan.csi.errors import CsiError
from sampan.csi.sidecar.claims import PROVISIONED_BY
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.provisioning.created_volume import DELETION_SECRET, FINALIZER
from sampan.csi.sidecar.provisioning.provisioner import no_refresh
from sampan.csi.sidecar.secrets import secret_data
from sampan.kinds import core_v1
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta

_log = logging.getLogger("sampan.csi")


class Reclaimer:
    """Reconciler of volumes that the driver has provisioned."""

    def __init__(
        self,
        context: ControllerContext,
        driver: Driver,
        volume_changed: Callable[[str, core_v1.PersistentVolume | None], None] = no_refresh,
    ) -> None:
        """`volume_changed` is called with the class and the volume after a deletion."""
        client = context.manager.client
        self._client = client.direct
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._attachments = client.resource(VOLUME_ATTACHMENTS)
        self._recorder = context.recorder(f"{driver.name.lower()}/external-provisioner")
        self._driver = driver
        self._volume_changed = volume_changed

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one volume. Raises `ApiError`, `TransportError`, `RetryLater`."""
        volume = await self._volumes.find(request)
        if volume is None or not self._is_ours(volume):
            return None
        if _is_to_be_deleted(volume):
            await self._delete(volume)
        else:
            await self._guard(volume)
        return None

    def _is_ours(self, volume: core_v1.PersistentVolume) -> bool:
        source = volume["spec"].get("csi")
        driver = source.get("driver") if source else None
        return meta(volume).annotations.get(PROVISIONED_BY) == self._driver.name == driver

    async def _guard(self, volume: core_v1.PersistentVolume) -> None:
        """Add the finalizer to volumes with the reclaim policy Delete, and remove it from other volumes."""
        deletes = volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
        has = FINALIZER in meta(volume).finalizers
        bound = (volume.get("status") or {}).get("phase") == "Bound"
        if deletes and not has and bound and meta(volume).deletion_timestamp is None:
            await self._set_finalizers(volume, [*meta(volume).finalizers, FINALIZER])
        elif has and not deletes:
            await self._set_finalizers(volume, [each for each in meta(volume).finalizers if each != FINALIZER])

    async def _delete(self, volume: core_v1.PersistentVolume) -> None:
        name = meta(volume).name
        try:
            if "PUBLISH_UNPUBLISH_VOLUME" in self._driver.controller:
                for attachment in await self._attachments.by_index(VOLUME_INDEX, name):
                    node = attachment["spec"]["nodeName"]
                    raise RetryLater(f"persistentvolume {name} is still attached to node {node}")
            secrets = await self._secrets(volume)
            await self._driver.call("DeleteVolume", volume_id=volume["spec"]["csi"]["volumeHandle"], secrets=secrets)
        except (CsiError, RetryLater) as error:
            self._recorder.warning(volume, "VolumeFailedDelete", str(error))
            raise RetryLater(str(error)) from error
        self._volume_changed(volume["spec"].get("storageClassName") or "", volume)
        try:
            deleted = await self._volumes.delete(name, DeleteOptions(uid=meta(volume).uid)) or volume
            if FINALIZER in meta(deleted).finalizers:
                await self._set_finalizers(deleted, [each for each in meta(deleted).finalizers if each != FINALIZER])
        except NotFound:
            return

    async def _secrets(self, volume: core_v1.PersistentVolume) -> dict[str, str]:
        """Return the data of the Secret for the deletion; empty if the Secret no longer exists."""
        annotations = meta(volume).annotations
        name, namespace = annotations.get(f"{DELETION_SECRET}-name"), annotations.get(f"{DELETION_SECRET}-namespace")
        if not name or not namespace:
            return {}
        try:
            return await secret_data(self._client, {"name": name, "namespace": namespace})
        except (ApiError, ValueError) as error:
            fields = {"volume": meta(volume).name}
            _log.warning("cannot read secret for deletion, deleting without it: %s", error, extra=fields)
            return {}

    async def _set_finalizers(self, volume: core_v1.PersistentVolume, finalizers: list[str]) -> None:
        metadata = {"resourceVersion": meta(volume).resource_version, "finalizers": finalizers or None}
        try:
            await self._volumes.patch(meta(volume).name, MergePatch({"metadata": metadata}))
        except Conflict as error:
            raise RetryLater(str(error)) from error
        except NotFound:
            return


def _is_to_be_deleted(volume: core_v1.PersistentVolume) -> bool:
    if meta(volume).deletion_timestamp is not None and FINALIZER not in meta(volume).finalizers:
        return False  # The driver has deleted the volume.
    released = (volume.get("status") or {}).get("phase") == "Released"
    return released and volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete"
