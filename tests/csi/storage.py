"""A cluster with a storage driver, its sidecars, and the controllers of volumes. The test is the kubelet."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sampan.client import Client
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import (
    CSI_NODES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STORAGE_CLASSES,
)
from sampan.controllers import attach_detach, persistent_volumes
from sampan.controllers.volumes import volume_protection
from sampan.csi.client import CsiClient
from sampan.csi.sidecar.driver import driver_of
from sampan.csi.sidecar.set_up import set_up
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.csi.sidecar.snapshots.kinds import are_served
from sampan.resource import Object
from tests.controllers.cluster import Working, working
from tests.e2e.csi.driver import Driver, driver
from tests.e2e.csi.settings import Settings

NAME = "test.csi.sampan.dev"
NODE = "node-1"
FAST = SidecarSettings(timeout_s=5.0, retry_interval_start_s=0.05, retry_interval_max_s=0.2)
CLASS = {"metadata": {"name": "fast"}, "provisioner": NAME, "allowVolumeExpansion": True}


@contextmanager
def running_driver(**settings: Any) -> Iterator[Driver]:
    """Run a driver process. Its socket is in a short path, as sockets need."""
    with tempfile.TemporaryDirectory(prefix="csi-") as directory:
        root = Path(directory)
        with driver(replace(Settings(root / "d", root / "csi.sock"), **settings)) as found:
            yield found


@asynccontextmanager
async def sidecars(client: Client, running: Driver, settings: SidecarSettings = FAST) -> AsyncIterator[Working]:
    """Run only the sidecars of a driver."""
    async with CsiClient(str(running.settings.socket), timeout_s=settings.timeout_s) as csi:
        found = await driver_of(csi)
        snapshots = await are_served(client)

        def add(context: ControllerContext) -> None:
            set_up(context, found, settings, snapshots=snapshots)

        async with working(client, add) as c:
            yield c


@asynccontextmanager
async def controllers(client: Client) -> AsyncIterator[Working]:
    """Run the controllers of volumes, which are part of a control plane."""
    loops = (
        persistent_volumes.set_up,
        attach_detach.set_up,
        volume_protection.set_up_claims,
        volume_protection.set_up_volumes,
    )
    async with working(client, *loops) as c:
        yield c


@asynccontextmanager
async def storage(client: Client, running: Driver, settings: SidecarSettings = FAST) -> AsyncIterator[Working]:
    """Run controllers and sidecars."""
    async with controllers(client), sidecars(client, running, settings) as c:
        yield c


async def node(
    c: Working, name: str = NODE, *, labels: dict[str, str] | None = None, keys: tuple[str, ...] = ()
) -> None:
    """Create a node with the driver."""
    await c.create(NODES, {"metadata": {"name": name, "labels": labels or {}}})
    drivers = [{"name": NAME, "nodeID": NODE, "topologyKeys": list(keys)}]
    await c.create(CSI_NODES, {"metadata": {"name": name}, "spec": {"drivers": drivers}})


async def storage_class(c: Working, **changes: Any) -> None:
    """Create the class `fast`."""
    await c.create(STORAGE_CLASSES, {**CLASS, **changes})


async def claim(c: Working, name: str = "c", size: str = "1Gi", **spec: Any) -> Object:
    """Create a claim of the class `fast`."""
    fields = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": size}},
        **spec,
    }
    return await c.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": name}, "spec": fields})


async def bound(c: Working, name: str = "c") -> Object:
    """Wait until a claim is bound, and return it."""
    return await c.until(
        PERSISTENT_VOLUME_CLAIMS, name, lambda found: (found.get("status") or {}).get("phase") == "Bound"
    )


async def pod(c: Working, name: str = "p", claim: str = "c") -> None:
    """Create a Pod with a claim on the node."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": NODE, "volumes": volumes}
    await c.create(PODS, {"metadata": {"name": name}, "spec": spec})


def requests_of(running: Driver, method: str) -> list[Object]:
    """Return the requests that the driver got."""
    return [each["request"] for each in running.calls(method)]


def volumes_of(running: Driver) -> list[str]:
    """Return the directories of the volumes that the driver has."""
    directory = running.settings.data / "volumes"
    return sorted(each.name for each in directory.iterdir()) if directory.is_dir() else []
