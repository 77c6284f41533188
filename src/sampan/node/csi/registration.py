"""`CsiRegistration`: registers storage drivers, and renews the number of volumes that they can have.

Source: kubernetes pkg/volume/csi/csi_plugin.go `RegistrationHandler`, csi_node_updater.go (1.36).
"""

import asyncio
import logging
from typing import Final

from sampan.client import ClientError
from sampan.core.event_loop.task_scope import TaskScope
from sampan.csi.errors import CsiError
from sampan.node.csi.drivers import Drivers, RegisteredDriver, connect
from sampan.node.csi.node_object import NodeObject
from sampan.node.references import References, Unreadable

_PERIOD_S: Final = 5.0
_log = logging.getLogger("sampan.node")


class CsiRegistration:
    """Handles plug-ins of the type CSIPlugin."""

    def __init__(self, drivers: Drivers, node: NodeObject, references: References) -> None:
        self._drivers = drivers
        self._node = node
        self._references = references
        self._renew_at: dict[str, float] = {}

    async def register(self, name: str, endpoint: str, versions: list[str]) -> None:
        """Register a driver. Raises `CsiError`, `ClientError`, `ValueError`."""
        check_versions(name, versions)
        driver = await connect(name, endpoint)
        try:
            await self._node.add(driver)
        except BaseException:
            await driver.connection.aclose()
            raise
        await self._drivers.add(driver)

    async def unregister(self, name: str, endpoint: str) -> None:
        """Remove a driver. Raises `ClientError`."""
        if await self._drivers.remove(name, endpoint):
            await self._node.remove(name)

    async def renew(self, driver: RegisteredDriver) -> None:
        """Request the number of volumes that a driver can have, and write it if it has changed."""
        try:
            info = await driver.client.call("NodeGetInfo")
            if info.max_volumes_per_node != driver.volumes_max:
                driver.volumes_max = info.max_volumes_per_node
                await self._node.add(driver)
        except (CsiError, ClientError, ValueError) as error:
            _log.warning("cannot renew the allocatable volumes of driver %s: %s", driver.name, error)

    async def run(self) -> None:
        """Renew the number of volumes of each driver whose CSIDriver sets nodeAllocatableUpdatePeriodSeconds, until
        cancelled.
        """
        loop = asyncio.get_running_loop()
        tasks: dict[str, asyncio.Task[None]] = {}
        async with TaskScope() as scope:
            while True:
                await asyncio.sleep(_PERIOD_S)
                for driver in self._drivers.all():
                    name, period_s = driver.name, await self._period_s(driver.name)
                    if period_s is None:
                        self._renew_at.pop(name, None)
                    elif self._renew_at.setdefault(name, loop.time() + period_s) <= loop.time():
                        self._renew_at[name] = loop.time() + period_s
                        # In a task, because a driver may take minutes to respond.
                        if name not in tasks or tasks[name].done():
                            tasks[name] = scope.begin(self.renew(driver), name=f"limits of {name}")

    async def renews(self, name: str) -> bool:
        """Return whether a driver's number of volumes must be renewed periodically."""
        return await self._period_s(name) is not None

    async def _period_s(self, name: str) -> int | None:
        try:
            found = await self._references.csi_driver(name)
        except Unreadable:
            return None
        return None if found is None else found.spec.node_allocatable_update_period_seconds


def check_versions(name: str, versions: list[str]) -> None:
    """Raise `ValueError` unless one of a driver's versions is 1.x."""
    if not versions:
        raise ValueError(f"CSI driver {name} reports no supported versions")
    for version in versions:
        major, _, rest = version.removeprefix("v").partition(".")
        if major == "1" and rest.replace(".", "").isdigit():
            return
    shown = ", ".join(versions)
    raise ValueError(f"none of the CSI versions reported by this driver are supported: {name} has {shown}, want 1.x.y")
