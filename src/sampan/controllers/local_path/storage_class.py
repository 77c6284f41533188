"""The StorageClass that Sampan creates, and the CSIDriver of its volumes."""

from typing import Any, Final

from sampan.client import AlreadyExists, Client
from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import CLASS, DRIVER, PROVISIONER
from sampan.component_base.resources import CSI_DRIVERS, STORAGE_CLASSES
from sampan.core.default_class import DEFAULT_STORAGE, newest_default
from sampan.operator.request import Request, Result
from sampan.resource import Object

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
    driver: Object = {
        "apiVersion": CSI_DRIVERS.api_version,
        "kind": CSI_DRIVERS.kind,
        "metadata": {"name": DRIVER},
        "spec": {"attachRequired": False, "fsGroupPolicy": "File", "volumeLifecycleModes": ["Persistent"]},
    }
    try:
        await client.resource(CSI_DRIVERS).create(driver)
    except AlreadyExists:
        return


def _storage_class(*, is_default: bool) -> Object:
    metadata: dict[str, Any] = {"name": CLASS}
    if is_default:
        metadata["annotations"] = {DEFAULT_STORAGE[0]: "true"}
    return {
        "apiVersion": STORAGE_CLASSES.api_version,
        "kind": STORAGE_CLASSES.kind,
        "metadata": metadata,
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
