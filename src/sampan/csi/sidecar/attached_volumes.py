"""`AttachedVolumes`: removes the finalizer of volumes that are being deleted and are not attached to any node.

Source: external-attacher pkg/controller/csi_handler.go `SyncNewOrUpdatedPersistentVolume`.
"""

from sampan.client import Conflict, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from sampan.csi.attachments import VOLUME_INDEX
from sampan.csi.names import attacher_finalizer
from sampan.csi.sidecar.driver import Driver
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta


class AttachedVolumes:
    """Reconciler of volumes: removes the attacher's finalizer."""

    def __init__(self, context: ControllerContext, driver: Driver) -> None:
        client = context.manager.client
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._attachments = client.resource(VOLUME_ATTACHMENTS)
        self._finalizer = attacher_finalizer(driver.name)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one volume. Raises `ApiError`, `TransportError`, `RetryLater`."""
        volume = await self._volumes.find(request)
        if volume is None or meta(volume).deletion_timestamp is None:
            return None
        if self._finalizer not in meta(volume).finalizers:
            return None
        if await self._attachments.by_index(VOLUME_INDEX, request.name):
            return None
        kept = [each for each in meta(volume).finalizers if each != self._finalizer]
        metadata = {"resourceVersion": meta(volume).resource_version, "finalizers": kept or None}
        try:
            await self._volumes.patch(request.name, MergePatch({"metadata": metadata}))
        except Conflict as error:
            raise RetryLater(str(error)) from error
        except NotFound:
            return None
        return None
