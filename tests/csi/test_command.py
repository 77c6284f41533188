"""`sampan csi` as a process, with the rights of docs/csi-controllers.md, next to `sampan up`."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.client import Client, load_config
from sampan.component_base.resources import (
    CLUSTER_ROLES,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    LEASES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    SERVICE_ACCOUNTS,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from sampan.core.gvk import GroupVersionResource
from sampan.csi.sidecar.snapshots.kinds import VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS
from sampan.operator.manager import Manager
from sampan.resource import ResourceInfo
from tests.cli.server import Server, running
from tests.controllers.cluster import Working
from tests.csi.storage import NAME, NODE, bound, claim, running_driver, storage_class, volumes_of
from tests.csi.test_snapshots import define_snapshots, is_ready, snapshot
from tests.e2e.csi.driver import Driver

GUIDE = Path(__file__).parents[2] / "docs" / "csi-controllers.md"
RBAC = "rbac.authorization.k8s.io"
KINDS = {
    "ServiceAccount": SERVICE_ACCOUNTS,
    "ClusterRole": CLUSTER_ROLES,
    "ClusterRoleBinding": ResourceInfo(
        GroupVersionResource(RBAC, "v1", "clusterrolebindings"), "ClusterRoleBinding", False
    ),
    "Role": ResourceInfo(GroupVersionResource(RBAC, "v1", "roles"), "Role", True),
    "RoleBinding": ResourceInfo(GroupVersionResource(RBAC, "v1", "rolebindings"), "RoleBinding", True),
}
NAMESPACE = "kube-system"


@asynccontextmanager
async def administrator(server: Server) -> AsyncIterator[Working]:
    """Return a client with all rights."""
    async with Client.from_config(load_config(server.data / "kubeconfig")) as client:
        yield Working(client, Manager(client))


async def account(client: Client, server: Server) -> Path:
    """Create the account of the guide, and return its kubeconfig."""
    [text] = [each for each in re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.S) if "ServiceAccount" in each]
    for obj in yaml.safe_load_all(text):
        await client.resource(KINDS[obj["kind"]], namespace=obj["metadata"].get("namespace", "")).create(obj)
    accounts = client.resource(SERVICE_ACCOUNTS, namespace=NAMESPACE)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    made = await accounts.subresource("token").create("sampan-csi", request)
    config: Any = yaml.safe_load((server.data / "kubeconfig").read_text())
    config["users"][0]["user"] = {"token": made["status"]["token"]}
    path = server.data / "csi.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@contextmanager
def sampan_csi(config: Path, driver: Driver, *more: str) -> Iterator["subprocess.Popen[str]"]:
    """Run the command until the end of the block."""
    options = (f"--driver-socket={driver.settings.socket}", f"--kubeconfig={config}", *more)
    log = config.with_suffix(".log")
    with log.open("a") as stderr:
        started = subprocess.Popen([sys.executable, "-m", "sampan", "csi", *options], stderr=stderr, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


async def test_a_pod_gets_a_volume_and_gives_it_back(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage=memory", loops=True) as server, running_driver() as driver:
        async with administrator(server) as c:
            config = await account(c.client, server)
            with sampan_csi(config, driver, "--leader-elect") as process:
                drivers = [{"name": NAME, "nodeID": NODE, "topologyKeys": []}]
                await c.create(CSI_NODES, {"metadata": {"name": NODE}, "spec": {"drivers": drivers}})
                await storage_class(c, volumeBindingMode="WaitForFirstConsumer")
                await claim(c)
                volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
                spec = {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}
                await c.create(PODS, {"metadata": {"name": "p"}, "spec": spec})
                name = (await bound(c))["spec"]["volumeName"]
                await c.until_all(VOLUME_ATTACHMENTS, lambda all: all and all[0].get("status", {}).get("attached"))
                request = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
                await c.patch(PERSISTENT_VOLUME_CLAIMS, "c", request)
                await c.until(PERSISTENT_VOLUMES, name, lambda v: v["spec"]["capacity"] == {"storage": "2Gi"})
                await c.delete(PODS, "p")
                await c.delete(PERSISTENT_VOLUME_CLAIMS, "c")
                await c.until_gone(PERSISTENT_VOLUMES, name)
                assert volumes_of(driver) == []
                lease = await c.client.resource(LEASES, namespace=NAMESPACE).get("sampan-csi-test-csi-sampan-dev")
                assert lease["spec"]["holderIdentity"]
                process.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(process.wait, 20) == 0
        log = config.with_suffix(".log").read_text()
        assert "forbidden" not in log, log
        assert "Traceback" not in log, log


async def test_the_account_of_the_guide_may_take_snapshots(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage=memory", loops=True) as server, running_driver() as driver:
        async with administrator(server) as c:
            await define_snapshots(c.client)
            config = await account(c.client, server)
            with sampan_csi(config, driver):
                await snapshot(c)
                found = await c.until(VOLUME_SNAPSHOTS, "s", is_ready)
                await c.delete(VOLUME_SNAPSHOTS, "s")
                await c.until_gone(VOLUME_SNAPSHOT_CONTENTS, found["status"]["boundVolumeSnapshotContentName"])
        log = config.with_suffix(".log").read_text()
        assert "forbidden" not in log, log


async def test_the_account_of_the_guide_may_publish_capacity(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage=memory", loops=True) as server, running_driver() as driver:
        async with administrator(server) as c:
            config = await account(c.client, server)
            capacities = c.client.resource(CSI_STORAGE_CAPACITIES, namespace=NAMESPACE)

            async def until(*sizes: str) -> None:
                async with asyncio.timeout(30):
                    while [each["capacity"] for each in await capacities.list()] != list(sizes):  # noqa: ASYNC110
                        await asyncio.sleep(0.05)

            with sampan_csi(config, driver, "--enable-capacity", "--capacity-poll-interval=100ms"):
                await c.create(NODES, {"metadata": {"name": NODE}})
                drivers = [{"name": NAME, "nodeID": NODE, "topologyKeys": []}]
                await c.create(CSI_NODES, {"metadata": {"name": NODE}, "spec": {"drivers": drivers}})
                await storage_class(c, volumeBindingMode="WaitForFirstConsumer")
                await until("100Gi")
                driver.set_capacity(2 << 30)
                await until("2Gi")
                await c.delete(STORAGE_CLASSES, "fast")
                await until()
        log = config.with_suffix(".log").read_text()
        assert "forbidden" not in log, log


async def test_a_killed_command_leaves_one_volume(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage=memory", loops=True) as server, running_driver() as driver:
        async with administrator(server) as c:
            config = await account(c.client, server)
            await storage_class(c)
            driver.fail(CreateVolume={"code": "UNAVAILABLE", "message": "lost", "after": True})
            await claim(c)
            with sampan_csi(config, driver, "--retry-interval-start=100ms") as process:
                await c.events("ProvisioningFailed")
                process.send_signal(signal.SIGKILL)
                process.wait()
            assert len(volumes_of(driver)) == 1
            driver.fail()
            with sampan_csi(config, driver):
                await bound(c)
            assert len(volumes_of(driver)) == 1
            assert len(await c.all(PERSISTENT_VOLUMES)) == 1


async def test_the_command_waits_for_the_driver(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage=memory", loops=True) as server, running_driver() as driver:
        async with administrator(server) as c:
            config = await account(c.client, server)
            driver.stop()
            with sampan_csi(config, driver):
                await storage_class(c)
                await claim(c)
                log = config.with_suffix(".log")
                async with asyncio.timeout(30):
                    while "cannot use the storage driver" not in log.read_text():  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                driver.start()
                await bound(c)
