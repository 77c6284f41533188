"""Errors of drivers, and clean-up after them and after a killed agent."""

import os
from types import ModuleType

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.client import DeleteOptions
from sampan.component_base.resources import CSI_NODES, PODS
from sampan.core.extras import MissingExtra
from sampan.node.csi import lazy
from tests.node.csi.running import DRIVER, cluster, mounts_below, until, without_agent

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="drivers mount as root")


async def test_pod_shows_that_the_driver_is_missing_and_starts_once_it_is_there() -> None:
    async with cluster() as found:
        await found.registered()
        found.driver.stop()
        await found.create_driver()
        await found.create_volume()
        await found.run()
        text = f"driver name {DRIVER} not found in the list of registered CSI drivers"
        text = f"kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: {text}"
        await found.event("FailedMount", f'MountVolume.SetUp failed for volume "v" : {text}')
        found.driver.start()
        await found.running()
        await found.remove()


@pytest.mark.parametrize(
    ("method", "event"),
    [("NodeStageVolume", "MountVolume.MountDevice"), ("NodePublishVolume", "MountVolume.SetUp")],
    ids=["stage", "publish"],
)
async def test_error_of_the_driver_is_an_event_and_the_mount_is_tried_again(method: str, event: str) -> None:
    async with cluster() as found:
        found.driver.fail(**{method: {"code": "INTERNAL", "message": "no disk", "times": 1}})
        await found.create_driver()
        await found.create_volume()
        await found.registered()
        await found.run()
        await found.event("FailedMount", f'{event} failed for volume "v" : rpc error: code = Internal desc = no disk')
        await found.running()
        await found.remove()


@pytest.mark.parametrize(
    ("code", "undone"),
    [("DEADLINE_EXCEEDED", ["NodeUnstageVolume"]), ("INVALID_ARGUMENT", [])],
    ids=["uncertain", "final"],
)
async def test_volume_that_may_be_staged_is_unstaged(code: str, undone: list[str]) -> None:
    async with cluster() as found:
        found.driver.fail(NodeStageVolume={"code": code, "message": "slow", "after": code == "DEADLINE_EXCEEDED"})
        await found.create_driver()
        await found.create_volume()
        await found.registered()
        await found.run()
        await until(lambda: bool(found.driver.calls("NodeStageVolume")), "the first attempt")
        await found.event("FailedMount", "slow")
        await found.remove()
        assert found.driver.methods("NodeUn") == undone
        assert mounts_below(found.node) == []


async def test_volume_that_may_be_published_is_unpublished() -> None:
    async with cluster() as found:
        found.driver.fail(NodePublishVolume={"code": "DEADLINE_EXCEEDED", "message": "slow", "after": True})
        await found.create_driver()
        await found.create_volume()
        await found.registered()
        await found.run()
        await found.event("FailedMount", "slow")
        await found.remove()
        assert found.driver.methods("NodeUn") == ["NodeUnpublishVolume", "NodeUnstageVolume"]


async def test_next_agent_unmounts_what_a_deleted_pod_has_left() -> None:
    async with without_agent() as found:
        async with found.agent():
            await found.create_driver()
            await found.create_volume()
            for name in ("web", "stays"):
                await found.run(name)
                await found.running(name)
        # An agent that ends leaves its mounts, as one that is killed does.
        assert len(mounts_below(found.node)) == 3
        await found.client.resource(PODS).delete("web", DeleteOptions(grace_period_seconds=0))
        async with found.agent():
            await until(lambda: len(mounts_below(found.node)) == 2, "the end of the mount of the deleted pod")
            assert "NodeUnstageVolume" not in found.driver.methods()
            await found.remove("stays")
            assert found.driver.methods("NodeUn")[-1] == "NodeUnstageVolume"
        assert list((found.node / "pods").rglob("*")) == []


async def test_pod_is_deleted_once_its_driver_is_back() -> None:
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        await found.run()
        await found.running()
        found.driver.stop()
        await found.work.until(CSI_NODES, "node", lambda node: not node["spec"].get("drivers"))
        await found.work.delete(PODS, "web")
        await found.work.until(PODS, "web", lambda pod: "terminated" in str(pod["status"]["containerStatuses"]))
        assert await found.work.exists(PODS, "web")
        found.driver.start()
        await found.work.until_gone(PODS, "web")


async def test_node_without_grpc_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> ModuleType:
        raise MissingExtra("volumes of CSI drivers needs the package grpc: pip install 'sampan[cri]'")

    monkeypatch.setattr(lazy, "import_extra", fail)
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        await found.run()
        await found.event("FailedMount", "pip install 'sampan[cri]'")
        await found.remove()
