"""`CsiAgent`: manages CSI drivers and their volumes on one node. It needs the extra `cri`, which installs gRPC.

Concurrency: `run` owns the tasks that watch for drivers, expand volumes, read statistics and clean up. Pods' workers
call `mounts`.
"""

import asyncio
import logging
from typing import Final

from sampan.client import ClientError
from sampan.node.csi.attachments import Attachments
from sampan.node.csi.drivers import Drivers, RegisteredDriver
from sampan.node.csi.expansion import Expansion
from sampan.node.csi.mounts import CsiMounts
from sampan.node.csi.node_object import NodeObject
from sampan.node.csi.parts import CsiParts
from sampan.node.csi.paths import CsiPaths
from sampan.node.csi.plugins import PluginWatcher
from sampan.node.csi.publisher import Publisher
from sampan.node.csi.records import Records
from sampan.node.csi.registration import CsiRegistration
from sampan.node.csi.requests import Requests
from sampan.node.csi.stats import VolumeStats
from sampan.node.references import References, Unreadable
from sampan.node.volumes.csi import CsiMounted, CsiVolume
from sampan.node.volumes.tokens import Tokens

_FIRST_REGISTRATION_S: Final = 15.0
"""Time in seconds that the plug-ins which exist have until others of an earlier agent are removed."""
_FIRST_SWEEP_S: Final = 5.0
_SWEEP_S: Final = 60.0
_RETRY_S: Final = 5.0

_log = logging.getLogger("sampan.node")


class CsiAgent:
    """Agent of one node."""

    def __init__(self, parts: CsiParts, node_object: NodeObject) -> None:
        references, clock = References(parts.client), parts.clock
        paths = CsiPaths(parts.root)
        records = Records(paths, parts.node)
        self._parts = parts
        self._node = node_object
        self._drivers = Drivers(self._registered)
        self._registration = CsiRegistration(self._drivers, node_object, references)
        self._watcher = PluginWatcher(paths.registry, {"CSIPlugin": self._registration})
        self._attachments = Attachments(references, parts.node, node_object)
        self.requests = Requests(references, Tokens(parts.client, clock))
        self.mounts = CsiMounts(
            paths,
            records,
            self._drivers,
            attachments=self._attachments,
            publisher=Publisher(paths, records, self.requests),
            references=references,
            clock=clock,
            exhausted=self._exhausted,
        )
        self.expansion = Expansion(
            self.mounts, self._drivers, paths, requests=self.requests, references=references, events=parts.events
        )
        self.stats = VolumeStats(self.mounts, self._drivers, paths, clock)
        self._desired: set[str] | None = None
        """Pods of the API server when the agent started; None until they are known."""
        self._seen: set[str] = set()
        """Pods that have used a volume since the agent started."""
        self._wake = asyncio.Event()

    def recover(self, uids: set[str]) -> None:
        """Unmount the volumes of all other Pods."""
        self._desired = set(uids) | (self._desired or set())
        self._wake.set()

    async def mount(self, volume: CsiVolume) -> CsiMounted:
        """Mount a volume, and expand its file system if the volume has grown. Raises the errors of `CsiPort.mount`."""
        uid = volume.pod.metadata.uid
        self._seen.add(uid)
        is_new = not self.mounts.has(uid, volume.name)
        mounted = await self.mounts.mount(volume)
        if is_new:
            await self.expansion.attempt(volume)
        return mounted

    async def unmount(self, uid: str) -> None:
        """Unmount all volumes of a Pod. Raises `VolumeFault`, `OSError`."""
        await self.mounts.unmount(uid)
        self.requests.forget(uid)
        self._seen.discard(uid)
        if self._desired is not None:
            self._desired.discard(uid)

    async def run(self) -> None:
        """Run until cancelled.

        Drivers that an earlier agent has registered and that no longer exist are removed from the CSINode.
        """
        try:
            await self._start()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._watcher.run(), name="plug-ins of the node")
                tasks.create_task(self._registration.run(), name="limits of CSI drivers")
                tasks.create_task(self.expansion.run(), name="expansion of CSI volumes")
                tasks.create_task(self.stats.run(), name="figures of CSI volumes")
                tasks.create_task(self._sweep(), name="clean-up of CSI volumes")
        finally:
            await self._drivers.close()

    async def _start(self) -> None:
        while True:
            try:
                await self._attachments.use(*self.mounts.recorded_in_use())
                break
            except Unreadable as error:
                _log.warning("cannot report the CSI volumes in use, retrying: %s", error)
                await asyncio.sleep(_RETRY_S)
        await self._watcher.begin(_FIRST_REGISTRATION_S)
        try:
            await self._node.remove_unknown()
        except ClientError as error:
            _log.warning("cannot remove unregistered CSI drivers from the CSINode: %s", error)

    async def _sweep(self) -> None:
        await asyncio.sleep(_FIRST_SWEEP_S)
        while True:
            done = await self.mounts.sweep(self._is_gone)
            try:
                async with asyncio.timeout(_SWEEP_S if done else _RETRY_S):
                    await self._wake.wait()
            except TimeoutError:
                continue
            self._wake.clear()

    def _is_gone(self, uid: str) -> bool:
        return self._desired is not None and uid not in self._desired and uid not in self._seen

    def _registered(self, name: str) -> None:
        for key in self.mounts.waiting(name):
            self._parts.changed(key)
        self._wake.set()

    def _exhausted(self, driver: RegisteredDriver) -> None:
        async def renew() -> None:
            if await self._registration.renews(driver.name):
                await self._registration.renew(driver)

        self._parts.tasks.begin(renew(), f"limits of CSI driver {driver.name}")
