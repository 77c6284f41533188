"""`VolumeStats`: reads statistics of volumes from their drivers once a minute, for /stats/summary.

Source: kubernetes pkg/volume/csi/csi_metrics.go, kubelet pkg/kubelet/server/stats/volume_stat_calculator.go (1.36).
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

from sampan.core.time import Clock, format_time
from sampan.csi.errors import CsiError
from sampan.csi.messages import AnyMessage
from sampan.node.csi.drivers import STAGE, STATS, Drivers, RegisteredDriver
from sampan.node.csi.mounts import CsiMounts
from sampan.node.csi.paths import CsiPaths
from sampan.node.volumes.csi import CsiVolume

PERIOD_S: Final = 60.0
_FIELDS: Final = {
    1: (("available", "availableBytes"), ("total", "capacityBytes"), ("used", "usedBytes")),
    2: (("available", "inodesFree"), ("total", "inodes"), ("used", "inodesUsed")),
}
"""Fields of VolumeUsage for bytes and for inodes."""

_log = logging.getLogger("sampan.node")


class VolumeStats:
    """Newest statistics of all mounted volumes."""

    def __init__(self, mounts: CsiMounts, drivers: Drivers, paths: CsiPaths, clock: Clock) -> None:
        self._mounts = mounts
        self._drivers = drivers
        self._paths = paths
        self._clock = clock
        self._found: dict[str, list[dict[str, Any]]] = {}

    def of_pod(self, uid: str) -> Sequence[dict[str, Any]]:
        """Return the statistics of a Pod's volumes."""
        return self._found.get(uid, ())

    async def run(self) -> None:
        """Read the statistics periodically until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(PERIOD_S)

    async def look(self) -> None:
        """Read the statistics of all volumes, one after the other."""
        found: dict[str, list[dict[str, Any]]] = {}
        for volume in self._mounts.mounted():
            uid = volume.pod.metadata.uid
            try:
                driver = self._drivers.get(volume.driver)
                if STATS in driver.capabilities:
                    found.setdefault(uid, []).append(await self._read(volume, driver))
            except LookupError:
                continue
            except CsiError as error:
                _log.warning("cannot read the statistics of volume %s: %s", volume.spec_name, error)
        self._found = found

    async def _read(self, volume: CsiVolume, driver: RegisteredDriver) -> dict[str, Any]:
        stages = STAGE in driver.capabilities and not volume.is_inline
        target = self._paths.target(volume.pod.metadata.uid, volume.spec_name, is_block=volume.is_block)
        response = await driver.client.call(
            "NodeGetVolumeStats",
            volume_id=volume.handle,
            volume_path=str(target),
            staging_target_path=str(self._paths.staging_path(volume)) if stages else "",
        )
        shown = {"time": format_time(self._clock.now()), **_figures(response), "name": volume.name}
        if volume.claim is not None:
            metadata = volume.claim.metadata
            shown["pvcRef"] = {"name": metadata.name, "namespace": metadata.namespace}
        return shown


def _figures(response: AnyMessage) -> dict[str, int]:
    return {
        name: int(getattr(usage, field)) for usage in response.usage for field, name in _FIELDS.get(int(usage.unit), ())
    }
