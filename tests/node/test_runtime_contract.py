"""Contract of all runtimes: what the node agent relies on, whatever runs the containers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sampan.core.time import SystemClock
from sampan.node.node_object.pod_addresses import PodAddresses
from sampan.node.runtime import ContainerRecord, ImageError, LogOptions, Runtime
from sampan.node.sessions import ContainerConfig
from sampan.node.simulated.runtime import SimulatedRuntime
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod, PodSpec
from sampan.resource import ObjectMeta
from tests.node.process.running import node as process_node
from tests.node.process.running import sh

MAIN, SIDECAR = Container("main", "app:1"), Container("other", "app:1")


@dataclass
class Changes:
    """Keys that a runtime has reported as changed."""

    keys: list[str] = field(default_factory=list)
    event: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, key: str) -> None:
        self.keys.append(key)
        self.event.set()


@dataclass
class Subject:
    """Runtime under test."""

    runtime: Runtime
    changes: Changes

    async def start(
        self, pod: Pod, container: Container = MAIN, *, restart_count: int = 0, exit_code: int | None = None
    ) -> None:
        """Start a container that runs until it is stopped, or ends with this code after a moment."""
        script = "exec sleep 60" if exit_code is None else f"sleep 0.05; exit {exit_code}"
        await self.runtime.run_sandbox(pod)
        await self.runtime.start_container(pod, container, restart_count, ContainerConfig(command=sh(script)))

    def record(self, pod: Pod, container: Container = MAIN) -> ContainerRecord:
        """Return the newest run of a container."""
        return self.runtime.containers(pod.metadata.uid)[container.name]

    async def ended(self, pod: Pod, container: Container = MAIN) -> ContainerRecord:
        """Wait until a container has ended."""
        while self.record(pod, container).is_running:
            self.changes.event.clear()
            async with asyncio.timeout(20):
                await self.changes.event.wait()
        return self.record(pod, container)


def make_pod(name: str = "web", *, exit_code: int | None = None) -> Pod:
    """Return a Pod. `exit_code`: how its containers end, for a runtime that simulates them."""
    annotations = {"sampan.dev/complete-after": "50ms", "sampan.dev/exit-code": str(exit_code)}
    metadata = ObjectMeta(name=name, namespace="default", uid=f"uid-of-{name}")
    metadata.annotations = {} if exit_code is None else annotations
    return Pod(metadata, PodSpec(containers=[MAIN, SIDECAR]))


@asynccontextmanager
async def simulated(root: Path) -> AsyncIterator[Subject]:
    """Run a simulated runtime."""
    changes = Changes()
    yield Subject(SimulatedRuntime(PodAddresses("10.0.0.0/24"), SystemClock(), changes.add), changes)


@asynccontextmanager
async def process(root: Path) -> AsyncIterator[Subject]:
    """Run a runtime of processes. Images named `missing` do not exist."""
    async with process_node(root, images={"registry.invalid/missing": str(root / "missing")}) as found:
        changes = Changes()
        found.runtime._changed = changes.add
        yield Subject(found.runtime, changes)


Running = Callable[[Path], AbstractAsyncContextManager[Subject]]
every_runtime = pytest.mark.parametrize("running", [simulated, process], ids=["simulated", "process"])


@every_runtime
async def test_version_names_the_runtime(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        name, separator, version = subject.runtime.version.partition("://")
        assert name
        assert separator
        assert version


@every_runtime
async def test_sandbox_keeps_its_addresses(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod()
        addresses = await subject.runtime.run_sandbox(pod)
        assert addresses
        assert await subject.runtime.run_sandbox(pod) == addresses


@every_runtime
async def test_started_container_runs_with_an_id_of_the_runtime(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod()
        await subject.start(pod)
        record = subject.record(pod)
        assert record.is_running
        assert (record.name, record.restart_count, record.previous) == ("main", 0, None)
        assert record.id.startswith(subject.runtime.version.partition("://")[0] + "://")
        assert record.image_id


@every_runtime
async def test_start_of_an_existing_run_does_nothing(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod()
        await subject.start(pod)
        before = subject.record(pod)
        await subject.start(pod)
        assert subject.record(pod) == before


@every_runtime
@pytest.mark.parametrize(("exit_code", "reason"), [(0, "Completed"), (3, "Error")])
async def test_end_is_reported_after_the_record_shows_it(
    running: Running, tmp_path: Path, exit_code: int, reason: str
) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod(exit_code=exit_code)
        await subject.start(pod, exit_code=exit_code)
        record = await subject.ended(pod)
        assert (record.exit_code, record.reason) == (exit_code, reason)
        assert record.finished_at is not None
        assert record.finished_at >= record.started_at
        assert not record.ready
        assert not record.started
        assert set(subject.changes.keys) == {pod.key}


@every_runtime
async def test_restarted_container_keeps_its_previous_run(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod(exit_code=3)
        await subject.start(pod, exit_code=3)
        first = await subject.ended(pod)
        await subject.start(pod, restart_count=1, exit_code=3)
        second = subject.record(pod)
        assert second.restart_count == 1
        assert second.id != first.id
        assert second.previous is not None
        assert second.previous.id == first.id


@every_runtime
async def test_stop_ends_only_the_named_containers(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod()
        await subject.start(pod, MAIN)
        await subject.start(pod, SIDECAR)
        await subject.runtime.stop_containers(pod, ["main", "unknown"], 10)
        assert (await subject.ended(pod)).exit_code == 143
        assert subject.record(pod, SIDECAR).is_running


@every_runtime
async def test_records_stay_when_the_sandbox_is_stopped(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod(exit_code=0)
        await subject.start(pod, exit_code=0)
        await subject.ended(pod)
        await subject.runtime.stop_sandbox(pod.metadata.uid)
        await subject.runtime.stop_sandbox(pod.metadata.uid)
        assert subject.record(pod).exit_code == 0


@every_runtime
async def test_removed_sandbox_is_unknown(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod()
        await subject.start(pod)
        for _ in range(2):
            await subject.runtime.remove_sandbox(pod.metadata.uid)
            assert not subject.runtime.containers(pod.metadata.uid)
            assert not await subject.runtime.usage(pod.metadata.uid)


@every_runtime
async def test_calls_for_an_unknown_pod_do_nothing(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod("unknown")
        await subject.runtime.stop_containers(pod, ["main"], 0)
        await subject.runtime.stop_sandbox(pod.metadata.uid)
        await subject.runtime.remove_sandbox(pod.metadata.uid)
        assert not subject.runtime.containers(pod.metadata.uid)


@every_runtime
async def test_image_that_exists_is_found_and_pulled(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        found = await subject.runtime.find_image(make_pod(), "app:1")
        assert found
        assert await subject.runtime.pull_image(make_pod(), "app:1") == found


@every_runtime
async def test_image_that_does_not_exist_cannot_be_pulled(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        image = "registry.invalid/missing"
        assert await subject.runtime.find_image(make_pod(), image) == ""
        with pytest.raises(ImageError) as caught:
            await subject.runtime.pull_image(make_pod(), image)
        assert caught.value.reason == "ErrImagePull"


@every_runtime
async def test_log_of_an_unknown_container_is_a_lookup_error(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        await subject.runtime.run_sandbox(make_pod())
        with pytest.raises(LookupError):
            async for _ in subject.runtime.logs(make_pod(), "unknown", LogOptions()):
                pass


@every_runtime
async def test_recovery_without_pods_leaves_an_empty_runtime(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        await subject.runtime.recover([])
        assert not subject.runtime.containers(make_pod().metadata.uid)


@every_runtime
async def test_recovery_ends_containers_that_another_runtime_ran(running: Running, tmp_path: Path) -> None:
    async with running(tmp_path) as subject:
        pod = make_pod()
        status = {
            "name": "main",
            "containerID": "foreign://1",
            "imageID": "foreign://app",
            "restartCount": 4,
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        }
        pod.status = {"phase": "Running", "containerStatuses": [status]}
        await subject.runtime.recover([pod])
        record = subject.record(pod)
        assert (record.restart_count, record.is_running, record.reason) == (4, False, "ContainerStatusUnknown")
