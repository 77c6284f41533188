"""`LazyCsi`: volumes of drivers on a node.

It loads gRPC when the first driver registers or the first Pod uses a CSI volume.

Nodes without the extra `cri` can run all Pods without such volumes.
Concurrency: `run` is a task of the manager. It creates the CSINode, and then runs the agent for drivers once one is
needed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from sampan.client import ClientError
from sampan.core.extras import MissingExtra, import_extra
from sampan.node.csi.node_object import NodeObject
from sampan.node.csi.parts import CsiParts
from sampan.node.csi.paths import DATA_FILE, CsiPaths
from sampan.node.volumes.csi import PLUGIN, CsiMounted, CsiVolume, VolumeFault

_PERIOD_S: Final = 1.0
_RETRY_S: Final = 5.0

_log = logging.getLogger("sampan.node")


class LazyCsi:
    """Volumes of drivers on one node."""

    needs_leader_election = False

    def __init__(self, parts: CsiParts, registered: Callable[[], Awaitable[None]]) -> None:
        """`registered` waits until the Node exists."""
        self._parts = parts
        self._registered = registered
        self._paths = CsiPaths(parts.root)
        self._node = NodeObject(parts.client, parts.node)
        self._agent: Any = None
        self._loaded = asyncio.Event()
        self._desired: set[str] | None = None

    def __str__(self) -> str:
        return "CSI drivers of the node"

    async def run(self) -> None:
        """Run until cancelled."""
        await self._registered()
        await self._create_csi_node()
        while not self._loaded.is_set() and not await asyncio.to_thread(self._is_needed):
            try:
                async with asyncio.timeout(_PERIOD_S):
                    await self._loaded.wait()
            except TimeoutError:
                continue
        try:
            agent = self._load()
        except MissingExtra as error:
            _log.warning("CSI drivers of this node are ignored: %s", error)
            await asyncio.get_running_loop().create_future()
        else:
            await agent.run()

    async def _create_csi_node(self) -> None:
        while True:
            try:
                await self._node.create_csi_node()
                return
            except ClientError as error:
                _log.warning("cannot create the CSINode, retrying: %s", error)
                await asyncio.sleep(_RETRY_S)

    def _is_needed(self) -> bool:
        """Return whether a driver waits for its registration, or an earlier agent has left volumes."""
        registry = self._paths.registry
        if registry.is_dir() and any(path.is_socket() for path in registry.rglob("*")):
            return True
        return any(True for _ in self._paths.plugin.glob(f"*/*/{DATA_FILE}")) or self._has_volumes("*")

    def _has_volumes(self, uid: str) -> bool:
        """Return whether a Pod may have a CSI volume."""
        pods = self._parts.root / "pods"
        kinds = ("volumes", "volumeDevices")
        return any(True for kind in kinds for _ in pods.glob(f"{uid}/{kind}/{PLUGIN}/*"))

    def _load(self) -> Any:
        """Return the agent. Raises `MissingExtra`."""
        if self._agent is None:
            module = import_extra("sampan.node.csi.agent", extra="cri", feature="volumes of CSI drivers")
            self._agent = module.CsiAgent(self._parts, self._node)
            if self._desired is not None:
                self._agent.recover(self._desired)
            self._loaded.set()
        return self._agent

    async def mount(self, volume: CsiVolume) -> CsiMounted:
        """Mount a volume. Raises `VolumeFault`, `Missing`, `Unreadable`, `ValueError`, `OSError`."""
        try:
            agent = self._load()
        except MissingExtra as error:
            raise VolumeFault(str(error), volume=volume.spec_name) from None
        mounted: CsiMounted = await agent.mount(volume)
        return mounted

    async def unmount(self, uid: str) -> None:
        """Unmount all volumes of a Pod. Raises `VolumeFault`, `OSError`."""
        if self._agent is None and not self._has_volumes(uid):
            return
        try:
            await self._load().unmount(uid)
        except MissingExtra as error:
            raise VolumeFault(str(error), volume="") from None

    def recover(self, uids: set[str]) -> None:
        """Unmount the volumes of all Pods but these, in the background."""
        self._desired = uids | (self._desired or set())
        if self._agent is not None:
            self._agent.recover(uids)

    def stats(self, uid: str) -> Sequence[dict[str, Any]]:
        """Return the newest statistics of a Pod's volumes."""
        found: Sequence[dict[str, Any]] = () if self._agent is None else self._agent.stats.of_pod(uid)
        return found
