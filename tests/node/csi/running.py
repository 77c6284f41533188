"""Node of processes with a driver, on a server in this process, and the objects of its volumes."""

import asyncio
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sampan.client import Client
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import (
    CSI_DRIVERS,
    EVENTS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTACHMENTS,
)
from sampan.csi.names import attachment_name, unique_volume_name
from sampan.node.nodes import ProcessNode
from sampan.node.set_up import set_up
from sampan.resource import Object
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.e2e.csi.driver import Driver, driver
from tests.e2e.csi.settings import NODE, Settings
from tests.server.cluster import MakeIdentity, no_identity

DRIVER = "test.csi.sampan.dev"


def mounts_below(directory: Path) -> list[str]:
    """Return the mount points below a directory."""
    points = [line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if point.startswith(f"{directory}/")]


@contextmanager
def directory() -> Iterator[Path]:
    """Return a short path, because sockets are in it. At the end nothing may be mounted below it."""
    with (Path(tempfile.gettempdir()) / f"sampan-tests-containers-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = Path(tempfile.mkdtemp(prefix="csi-"))
        found.chmod(0o755)
        yield found
        left = mounts_below(found)
        for point in reversed(left):
            subprocess.run(["umount", "-l", point], check=False)
        assert left == []
        shutil.rmtree(found, ignore_errors=True)  # Removals of containers may still run in threads.


@dataclass
class Cluster:
    """Server, node and driver."""

    root: Path
    client: Client
    driver: Driver
    works: list[Working] = field(default_factory=list)

    @property
    def work(self) -> Working:
        """Client with the loops of the newest agent."""
        return self.works[-1]

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[None]:
        """Run the agent of the node."""

        def setting_up(context: ControllerContext) -> None:
            set_up(context, ProcessNode("node", self.node))

        async with working(self.client, setting_up) as found:
            self.works.append(found)
            yield

    @property
    def node(self) -> Path:
        """Directory of the node."""
        return self.root / "node"

    async def create_driver(self, **spec: Any) -> None:
        """Create the CSIDriver."""
        await self.work.create(CSI_DRIVERS, {"metadata": {"name": DRIVER}, "spec": {"attachRequired": False, **spec}})

    async def create_volume(self, name: str = "v", *, handle: str = "h", claim: Any = None, **csi: Any) -> None:
        """Create a PersistentVolume with a claim of the same name that is bound to it."""
        source = {"driver": DRIVER, "volumeHandle": handle, **csi}
        modes = {"accessModes": ["ReadWriteOnce"], **(claim or {})}
        reference = {"namespace": "default", "name": name}
        spec = {**modes, "capacity": {"storage": "1Gi"}, "csi": source, "claimRef": reference}
        await self.work.create(PERSISTENT_VOLUMES, {"metadata": {"name": name}, "spec": spec})
        desired = {**modes, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": name, "storageClassName": ""}
        desired.pop("mountOptions", None)
        await self.work.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": name}, "spec": desired})
        status = {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": modes["accessModes"]}
        await self.work.patch_status(PERSISTENT_VOLUME_CLAIMS, name, status)

    async def attach(self, handle: str = "h", *, volume: str = "v", **metadata: str) -> None:
        """Create a VolumeAttachment, as attached, and report it in the node's status as the controller does."""
        name = attachment_name(DRIVER, handle, "node")
        spec = {"attacher": DRIVER, "nodeName": "node", "source": {"persistentVolumeName": volume}}
        await self.work.create(VOLUME_ATTACHMENTS, {"metadata": {"name": name}, "spec": spec})
        status = {"attached": True, "attachmentMetadata": metadata}
        await self.work.patch_status(VOLUME_ATTACHMENTS, name, status)
        attached = [{"name": unique_volume_name(DRIVER, handle), "devicePath": ""}]
        await self.work.patch_status(NODES, "node", {"volumesAttached": attached})

    async def run(
        self, name: str = "web", *, script: str = "exec sleep 100", volume: Any = None, **spec: Any
    ) -> Object:
        """Create a Pod with a volume at /data."""
        mount = {"name": "data", "mountPath": "/data"}
        main = {"name": "main", "image": "shell", "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", script]}
        source = volume or {"persistentVolumeClaim": {"claimName": "v"}}
        fields = {
            "nodeName": "node",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "containers": [{**main, "volumeMounts": [mount]}],
            "volumes": [{"name": "data", **source}],
            **spec,
        }
        return await self.work.create(PODS, {"metadata": {"name": name}, "spec": fields})

    async def running(self, name: str = "web") -> Object:
        """Wait until a Pod runs."""
        return await self.work.until(PODS, name, lambda pod: pod["status"]["phase"] == "Running")

    async def ended(self, name: str = "web") -> Object:
        """Wait until a Pod has ended by itself."""
        return await self.work.until(PODS, name, lambda pod: pod["status"]["phase"] in ("Succeeded", "Failed"))

    async def remove(self, name: str = "web") -> None:
        """Delete a Pod, and wait until it is gone."""
        await self.work.delete(PODS, name)
        await self.work.until_gone(PODS, name)

    async def event(self, reason: str, text: str) -> None:
        """Wait for an event whose message has a text."""

        def found(events: list[Object]) -> bool:
            return any(each.get("reason") == reason and text in each.get("message", "") for each in events)

        await self.work.until_all(EVENTS, found)

    async def registered(self) -> None:
        """Wait until the driver is registered."""
        await until(lambda: bool(self.driver.calls("NotifyRegistrationStatus")), "the registration")

    async def called(self, *methods: str) -> list[dict[str, Any]]:
        """Wait until each of some methods was called with success, and return the calls of the last one."""
        for method in methods:
            await until(partial(self._was_called, method), method)
        return [each for each in self.driver.calls(methods[-1]) if each["code"] == "OK"]

    def _was_called(self, method: str) -> bool:
        return method in self.driver.methods()

    async def node_object(self) -> Object:
        """Return the Node."""
        return await self.work.get(NODES, "node")


async def until(condition: Callable[[], bool], what: str, timeout_s: float = 30.0) -> None:
    """Wait until a condition holds."""
    try:
        async with asyncio.timeout(timeout_s):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"timed out: {what}") from None


@asynccontextmanager
async def without_agent(
    *, node_can: tuple[str, ...] = NODE, identity: MakeIdentity = no_identity, **settings: Any
) -> AsyncIterator[Cluster]:
    """Run a server and a driver."""
    with directory() as root:
        registry = root / "node" / "plugins_registry"
        registry.mkdir(parents=True)
        desired = Settings(root / "driver", root / "csi.sock", registry, node_can=node_can, **settings)
        async with connected(identity=identity) as (client, _):
            with driver(desired) as running:
                yield Cluster(root, client, running)


@asynccontextmanager
async def cluster(**settings: Any) -> AsyncIterator[Cluster]:
    """Run a server, a node and a driver, with the settings of `without_agent`."""
    async with without_agent(**settings) as found, found.agent():
        yield found
