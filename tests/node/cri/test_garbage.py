"""Garbage collection with a real containerd."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import pytest

from sampan.core.time import SystemClock
from sampan.node.cri import CriClient
from sampan.node.cri.garbage import CriGarbage
from sampan.node.cri.runtime import CriRuntime
from sampan.node.cri.settings import CriSettings
from sampan.node.garbage.collector import GarbageCollector
from sampan.node.garbage.images import ImagePolicy
from sampan.node.views.pod import Pod
from tests.node.cri.containerd import IMAGE, PAUSE, cgroup_parent, containerd, missing
from tests.node.cri.test_client import container_config, ended, sandbox_config

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"containerd: {missing()}")
UID = "uid-web"


@dataclass
class Node:
    """A runtime with one Pod."""

    root: Path
    client: CriClient
    runtime: CriRuntime
    pods: set[str] = field(default_factory=lambda: {UID})
    has_ended: bool = False

    @property
    def garbage(self) -> CriGarbage:
        async def desired() -> set[str]:
            return self.pods

        return CriGarbage(self.client, self.runtime, desired=desired, ended=lambda uid: self.has_ended)

    @property
    def collector(self) -> GarbageCollector:
        policy = ImagePolicy(age_s_min=0.0)
        return GarbageCollector(self.garbage, policy, clock=SystemClock(), report=lambda reason, note: None)

    async def dead(self, sandbox: str, attempt: int) -> str:
        """Run a container that ends at once."""
        config = container_config("main", "true")
        config.metadata.attempt = attempt
        config.labels["io.kubernetes.pod.uid"] = UID
        id = await self.client.create_container(sandbox, config, sandbox_config(self.root))
        await self.client.start_container(id)
        await ended(self.client, id)
        return id

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until the runtime's memory is as wanted."""
        async with asyncio.timeout(20):
            while not holds():  # noqa: ASYNC110 - the runtime has no event for it
                await asyncio.sleep(0.05)


def pod() -> Pod:
    """Return a Pod of one container."""
    metadata = {"name": "web", "namespace": "default", "uid": UID}
    spec = {"containers": [{"name": "main", "image": IMAGE}]}
    return msgspec.convert({"metadata": metadata, "spec": spec}, Pod)


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    async with containerd(tmp_path) as client:
        agent = CriClient(client.socket)
        logs = PurePosixPath(tmp_path / "logs")
        settings = CriSettings(tmp_path / "agent", ("10.0.0.1",), logs, "me", cgroup_parent(tmp_path), 2**30)
        runtime = CriRuntime(agent, settings, clock=SystemClock(), changed=lambda key: None)
        task = asyncio.create_task(runtime.run())
        try:
            await client.pull_image(IMAGE)
            await runtime.recover([pod()])
            yield Node(tmp_path, agent, runtime)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _ids(node: Node) -> list[str]:
    return [each.id for each in node.runtime.containers(UID).values()]


async def sandbox_of(node: Node) -> str:
    """Run the Pod's sandbox, and return its id."""
    await node.runtime.run_sandbox(pod())
    return str((await node.client.list_pod_sandboxes())[0].id)


async def test_newest_dead_container_is_kept(node: Node) -> None:
    sandbox = await sandbox_of(node)
    ids = [await node.dead(sandbox, attempt) for attempt in range(3)]
    await node.until(lambda: [id for id in _ids(node) if id.endswith(ids[-1])])
    await node.garbage.remove_dead()
    assert [each.id for each in await node.client.list_containers()] == ids[-1:]
    assert node.runtime.containers(UID)["main"].previous is None


async def test_containers_of_ended_pods_are_removed_under_pressure(node: Node) -> None:
    sandbox = await sandbox_of(node)
    await node.dead(sandbox, 0)
    await node.until(lambda: node.runtime.containers(UID))
    await node.runtime.stop_sandbox(UID)
    node.has_ended = True
    await node.collector.remove_dead()
    assert await node.client.list_containers() == []
    assert await node.client.list_pod_sandboxes() == []


async def test_older_sandbox_is_removed(node: Node) -> None:
    await sandbox_of(node)
    await node.runtime.stop_sandbox(UID)
    await node.runtime.run_sandbox(pod())
    assert len(await node.client.list_pod_sandboxes()) == 2
    await node.garbage.remove_dead()
    assert [each.metadata.attempt for each in await node.client.list_pod_sandboxes()] == [1]


async def test_nothing_is_left_of_a_pod_that_is_gone(node: Node) -> None:
    sandbox = await sandbox_of(node)
    await node.dead(sandbox, 0)
    (node.root / "agent" / "pods" / "old").mkdir(parents=True)
    (node.root / "logs" / "default_old_old").mkdir()
    (node.root / "logs" / "default_foreign_foreign").mkdir()
    node.pods.clear()
    await node.garbage.remove_dead()
    assert await node.client.list_pod_sandboxes() == []
    assert [each.name for each in (node.root / "logs").glob("default_*")] == ["default_foreign_foreign"]


async def test_unused_image_is_removed_but_not_that_of_sandboxes(node: Node) -> None:
    await node.runtime.run_sandbox(pod())
    await node.collector.remove_unused_images()
    assert [name for each in await node.client.list_images() for name in each.repo_tags] == [PAUSE]


async def test_image_of_a_dead_container_is_in_use(node: Node) -> None:
    await node.dead(await sandbox_of(node), 0)
    await node.collector.remove_unused_images()
    assert sorted(name for each in await node.client.list_images() for name in each.repo_tags) == [IMAGE, PAUSE]


async def test_disk_of_images_has_space(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    root, mountpoint = Path(node.client.socket).parents[2], await node.client.image_mountpoint()

    async def mountpoint_below_root() -> str:
        return f"{root}{mountpoint}"

    monkeypatch.setattr(node.client, "image_mountpoint", mountpoint_below_root)
    disk = await node.garbage.image_disk()
    assert 0 < disk.available_bytes < disk.capacity_bytes
    assert 0 < disk.inodes_free < disk.inodes
