"""`connected_driver`: the storage driver whose sidecars a process runs.

gRPC is in an extra, and slow to import. So the modules that use gRPC are imported only here, and only if a driver is
configured.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from sampan.app.controller_manager.settings import LoopSettings
from sampan.app.errors import StartError
from sampan.client import ApiError, Client, TransportError
from sampan.component_base.context import ControllerContext
from sampan.core.extras import MissingExtra, import_extra
from sampan.csi.names import sanitized
from sampan.csi.sidecar.settings import SidecarSettings

_FEATURE: Final = "sampan csi"
_RETRY_S: Final = 1.0

_log = logging.getLogger("sampan.app")


class ConnectedDriver:
    """Storage driver that is connected and ready."""

    def __init__(self, driver: Any, settings: SidecarSettings) -> None:
        self._driver = driver
        self._settings = settings
        self._snapshots = False

    async def look_for_snapshots(self, client: Client) -> None:
        """Check if the server has the kinds of volume snapshots. Waits for the server."""
        snapshots = _import("sampan.csi.sidecar.snapshots.kinds")
        while True:
            try:
                self._snapshots = await snapshots.are_served(client)
                break
            except (ApiError, TransportError) as error:
                _log.warning("cannot check for the kinds of snapshots, retrying: %s", error)
                await asyncio.sleep(_RETRY_S)
        if not self._snapshots and "CREATE_DELETE_SNAPSHOT" in self._driver.controller:
            _log.info("volume snapshots are off: no CustomResourceDefinitions for them, or no permission to read them")

    def with_lease(self, settings: LoopSettings) -> LoopSettings:
        """Return the settings with the Lease of this driver, if there is an election."""
        if not settings.lease:
            return settings
        return replace(settings, lease=f"{settings.lease}-{sanitized(self._driver.name)}")

    def set_up(self, context: ControllerContext) -> None:
        """Add the sidecars to the manager."""
        _import("sampan.csi.sidecar.set_up").set_up(context, self._driver, self._settings, snapshots=self._snapshots)


@asynccontextmanager
async def connected_driver(settings: SidecarSettings) -> AsyncIterator[ConnectedDriver]:
    """Connect to a driver, and wait until it is ready. Raises `StartError` without gRPC."""
    # gRPC would log a line for each program that this process starts.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    client_module = _import("sampan.csi.client")
    _log.info("connecting to the storage driver", extra={"socket": str(settings.driver_socket)})
    async with client_module.CsiClient(str(settings.driver_socket), timeout_s=settings.timeout_s) as client:
        driver = await _import("sampan.csi.sidecar.driver").driver_of(client)
        yield ConnectedDriver(driver, settings)


def _import(module: str) -> Any:
    try:
        return import_extra(module, extra="cri", feature=_FEATURE)
    except MissingExtra as error:
        raise StartError(str(error)) from None
