"""The StorageClass that Sampan creates, and the CSIDriver of its volumes."""

from __future__ import annotations

from typing import Final

from sampan.client import AlreadyExists, Client
from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import CLASS, DRIVER, PROVISIONER
from sampan.component_base.resources import CSI_DRIVERS, STORAGE_CLASSES
from sampan.core.default_class import DEFAULT_STORAGE, newest_default
from sampan.kinds import meta_v1, storage_v1
from sampan.operator.request import Request, Result

ONLY: Final = Request("", CLASS)


class DefaultClass:
    """Creates the StorageClass whenever it is missing. A class that exists, also a changed one, stays as it is."""

    def __init__(self, context: ControllerContext) -> None:
        self._client = context.manager.client
        self._classes = self._client.resource(STORAGE_CLASSES)

    async def reconcile(self, request: Request) -> Result | None:
        """Create the class. Raises `ApiError`, `TransportError`."""
        if await self._classes.find(request) is not None:
            return None
        await create_driver(self._client.direct)
        # Another default class, for example one of a storage system, remains the only one.
        is_default = newest_default(await self._classes.list(), DEFAULT_STORAGE) is None
        try:
            await self._classes.create(_storage_class(is_default=is_default))
        except AlreadyExists:
            return None
        return None


async def create_driver(client: Client) -> None:
    """Create the CSIDriver: without one, volumes would wait for an attachment. Raises `ApiError`, `TransportError`."""
    driver: storage_v1.CSIDriver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {"attachRequired": False, "fsGroupPolicy": "File", "volumeLifecycleModes": ["Persistent"]},
    }
    try:
        await client.resource(CSI_DRIVERS).create(driver)
    except AlreadyExists:
        return


def _storage_class(*, is_default: bool) -> storage_v1.StorageClass:
    metadata: meta_v1.ObjectMeta = {"name": CLASS}
    if is_default:
        metadata["annotations"] = {DEFAULT_STORAGE[0]: "true"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": metadata,
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
