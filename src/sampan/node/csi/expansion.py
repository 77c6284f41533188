"""`Expansion`: expands file systems and devices on the node after their volumes have grown.

Source: kubernetes pkg/volume/util/operationexecutor/node_expander.go, pkg/volume/util/resize_util.go (1.36).
"""

import asyncio
import logging
from typing import Any, Final

import grpc

from sampan.client import ClientError, MergePatch
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS
from sampan.core.numbers.quantity import parse
from sampan.csi.errors import CsiError
from sampan.csi.messages import message
from sampan.node.csi.drivers import EXPAND, STAGE, Drivers, RegisteredDriver
from sampan.node.csi.mounts import CsiMounts
from sampan.node.csi.paths import CsiPaths
from sampan.node.csi.requests import Requests, capability
from sampan.node.node_events import NodeEvents
from sampan.node.references import Claim, Missing, References, Unreadable
from sampan.node.volumes.csi import CsiVolume

PERIOD_S: Final = 10.0
_RETRY_MAX_S: Final = 300.0
_INFEASIBLE: Final = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.NOT_FOUND)
_RESIZE_CONDITIONS: Final = ("Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError")

_log = logging.getLogger("sampan.node")


class Expansion:
    """Follows the claims of mounted volumes. A node may read single claims, but not watch them."""

    def __init__(
        self,
        mounts: CsiMounts,
        drivers: Drivers,
        paths: CsiPaths,
        *,
        requests: Requests,
        references: References,
        events: NodeEvents,
    ) -> None:
        self._mounts = mounts
        self._drivers = drivers
        self._paths = paths
        self._requests = requests
        self._references = references
        self._events = events
        self._retries: dict[tuple[str, str], tuple[int, float]] = {}
        """Failed attempts by volume: their number, and the time of the next attempt."""

    async def run(self) -> None:
        """Check all claims periodically until cancelled."""
        while True:
            await asyncio.sleep(PERIOD_S)
            await self.look()

    async def look(self) -> None:
        """Expand all volumes that have grown, each once however many Pods use it."""
        found = {each.key: each for each in self._mounts.mounted() if each.claim is not None}
        for key in self._retries.keys() - found.keys():
            del self._retries[key]
        for volume in found.values():
            await self.attempt(volume)

    async def attempt(self, volume: CsiVolume) -> None:
        """Expand a volume if it has grown. Errors are logged."""
        try:
            await self.check(volume)
        except (Missing, Unreadable, ClientError) as error:
            _log.warning("cannot check the size of volume %s: %s", volume.spec_name, error)

    async def check(self, volume: CsiVolume) -> None:
        """Expand a volume if it has grown. Raises `Missing`, `Unreadable`, `ClientError`."""
        try:
            driver = self._drivers.get(volume.driver)
        except LookupError:
            return
        if EXPAND not in driver.capabilities or volume.claim is None or volume.read_only:
            return
        _, retry_at = self._retries.get(volume.key, (0, 0.0))
        if retry_at > asyncio.get_running_loop().time():
            return
        metadata = volume.claim.metadata
        claim = await self._references.claim(metadata.namespace, metadata.name)
        found = await self._references.persistent_volume(volume.spec_name)
        size = str(found.spec.capacity.get("storage", ""))
        if size and _is_pending(claim, size):
            async with self._mounts.lock(volume.key):
                await self._expand(volume, driver, claim, size)

    async def _expand(self, volume: CsiVolume, driver: RegisteredDriver, claim: Claim, size: str) -> None:
        uid = volume.pod.metadata.uid
        secrets = await self._requests.secrets(volume.expand_secret)
        # Before the call: if the agent is killed, the next one continues, because an expansion must not be abandoned.
        await self._write(claim, {"allocatedResourceStatuses": {"storage": "NodeResizeInProgress"}})
        try:
            await driver.client.call(
                "NodeExpandVolume",
                volume_id=volume.handle,
                volume_path=str(self._paths.target(uid, volume.spec_name, is_block=volume.is_block)),
                staging_target_path=str(self._paths.staging_path(volume)) if STAGE in driver.capabilities else "",
                capacity_range=message("CapacityRange")(required_bytes=parse(size).value()),
                volume_capability=capability(volume, driver),
                secrets=secrets,
            )
        except CsiError as error:
            await self._fail(volume, claim, error)
            return
        self._retries.pop(volume.key, None)
        conditions = [each for each in (claim.status.get("conditions") or ()) if each["type"] not in _RESIZE_CONDITIONS]
        capacity = {**(claim.status.get("capacity") or {}), "storage": size}
        done = {"capacity": capacity, "conditions": conditions, "allocatedResourceStatuses": {"storage": None}}
        await self._write(claim, done)
        text = f'MountVolume.NodeExpandVolume succeeded for volume "{volume.spec_name}"'
        self._events.normal(volume.pod, "FileSystemResizeSuccessful", text)

    async def _fail(self, volume: CsiVolume, claim: Claim, error: CsiError) -> None:
        tries, _ = self._retries.get(volume.key, (0, 0.0))
        wait_s = min(_RETRY_MAX_S, PERIOD_S * 2**tries)
        self._retries[volume.key] = tries + 1, asyncio.get_running_loop().time() + wait_s
        text = f'NodeExpandVolume.NodeExpandVolume failed for volume "{volume.spec_name}" : {error}'
        self._events.warning(volume.pod, "VolumeResizeFailed", text)
        # The driver cannot do it at this size. A user must change the claim, so retries would be useless.
        if error.code in _INFEASIBLE:
            await self._write(claim, {"allocatedResourceStatuses": {"storage": "NodeResizeInfeasible"}})

    async def _write(self, claim: Claim, status: dict[str, Any]) -> None:
        claims = self._references.client.resource(PERSISTENT_VOLUME_CLAIMS, namespace=claim.metadata.namespace)
        await claims.status.patch(claim.metadata.name, MergePatch({"status": status}))


def _is_pending(claim: Claim, size: str) -> bool:
    """Return whether the node must expand the volume of a claim to a size."""
    state = (claim.status.get("allocatedResourceStatuses") or {}).get("storage", "")
    if state == "NodeResizeInfeasible" or state.startswith("Controller"):
        return False
    if state.startswith("NodeResize"):
        return True
    current = (claim.status.get("capacity") or {}).get("storage")
    return current is not None and parse(str(current)).value() < parse(size).value()
