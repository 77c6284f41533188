"""`CriClient` against a real containerd."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from sampan.node.cri import CriClient, CriError, RuntimeUnavailable
from sampan.node.cri.messages import message, value
from tests.node.cri.containerd import IMAGE, PAUSE, cgroup_parent, containerd, missing

needs_containerd = pytest.mark.skipif(bool(missing()), reason=f"containerd: {missing()}")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[CriClient]:
    async with containerd(tmp_path) as found:
        yield found


def sandbox_config(root: Path, name: str = "web") -> Any:
    """Return the configuration of a sandbox with its own network."""
    metadata = message("PodSandboxMetadata")(name=name, namespace="default", uid=f"uid-{name}", attempt=0)
    return message("PodSandboxConfig")(
        metadata=metadata,
        hostname=name,
        log_directory=str(root / "logs"),
        labels={"io.kubernetes.pod.uid": f"uid-{name}"},
        linux=message("LinuxPodSandboxConfig")(cgroup_parent=cgroup_parent(root)),
    )


def container_config(name: str, script: str) -> Any:
    """Return the configuration of a container that runs a shell script."""
    return message("ContainerConfig")(
        metadata=message("ContainerMetadata")(name=name, attempt=0),
        image=message("ImageSpec")(image=IMAGE),
        command=["/bin/sh", "-c", script],
        log_path=f"{name}.log",
        labels={"io.kubernetes.container.name": name},
        linux=message("LinuxContainerConfig")(),
    )


async def run(client: CriClient, root: Path, name: str, script: str) -> tuple[str, str]:
    """Run a sandbox with one container. Returns the ids of both."""
    config = sandbox_config(root)
    sandbox = await client.run_pod_sandbox(config)
    container = await client.create_container(sandbox, container_config(name, script), config)
    await client.start_container(container)
    return sandbox, container


async def ended(client: CriClient, container: str) -> Any:
    """Wait until a container has ended, and return its status."""
    async with asyncio.timeout(30):
        while True:
            status = await client.container_status(container)
            if status.state == value("CONTAINER_EXITED"):
                return status
            await asyncio.sleep(0.05)


@needs_containerd
async def test_version_and_conditions_are_reported(client: CriClient) -> None:
    version = await client.version()
    assert (version.runtime_name, version.runtime_api_version) == ("containerd", "v1")
    conditions = {each.type: each.status for each in (await client.status()).status.conditions}
    assert conditions["RuntimeReady"]
    assert conditions["NetworkReady"]


@needs_containerd
async def test_images_are_pulled_listed_and_removed(client: CriClient) -> None:
    assert await client.image_status(IMAGE) is None
    reference = await client.pull_image(IMAGE)
    image = await client.image_status(IMAGE)
    assert image is not None
    assert image.id == reference
    assert [list(each.repo_tags) for each in await client.list_images()] == [[IMAGE]]
    for _ in range(2):
        await client.remove_image(IMAGE)
    assert await client.list_images() == []


@needs_containerd
async def test_unknown_image_cannot_be_pulled(client: CriClient) -> None:
    with pytest.raises(CriError, match="failed to resolve reference") as caught:
        await client.pull_image("registry.test/unknown:1")
    assert caught.value.is_not_found


@needs_containerd
async def test_sandbox_has_an_address_until_it_is_removed(client: CriClient, tmp_path: Path) -> None:
    sandbox = await client.run_pod_sandbox(sandbox_config(tmp_path))
    status = await client.pod_sandbox_status(sandbox)
    assert status.state == value("SANDBOX_READY")
    assert status.network.ip.startswith("10.244.3.")
    assert [each.id for each in await client.list_pod_sandboxes({"io.kubernetes.pod.uid": "uid-web"})] == [sandbox]
    assert await client.list_pod_sandboxes({"io.kubernetes.pod.uid": "other"}) == []
    for _ in range(2):
        await client.stop_pod_sandbox(sandbox)
    assert (await client.pod_sandbox_status(sandbox)).state == value("SANDBOX_NOTREADY")
    for _ in range(2):
        await client.remove_pod_sandbox(sandbox)
    with pytest.raises(CriError) as caught:
        await client.pod_sandbox_status(sandbox)
    assert caught.value.is_not_found


@needs_containerd
async def test_container_runs_ends_and_is_removed(client: CriClient, tmp_path: Path) -> None:
    await client.pull_image(IMAGE)
    _, container = await run(client, tmp_path, "main", "echo hello; exit 3")
    status = await ended(client, container)
    assert (status.exit_code, status.reason, status.metadata.name) == (3, "Error", "main")
    assert (tmp_path / "logs" / "main.log").read_text().endswith(" stdout F hello\n")
    assert [each.id for each in await client.list_containers()] == [container]
    for _ in range(2):
        await client.remove_container(container)
    assert await client.list_containers() == []


@needs_containerd
async def test_stop_signals_a_container_and_kills_it_after_the_grace_period(client: CriClient, tmp_path: Path) -> None:
    await client.pull_image(IMAGE)
    sandbox, graceful = await run(client, tmp_path, "graceful", "trap 'exit 7' TERM; while :; do sleep 0.1; done")
    config = sandbox_config(tmp_path)
    stubborn = await client.create_container(
        sandbox, container_config("stubborn", "trap '' TERM; while :; do sleep 0.1; done"), config
    )
    await client.start_container(stubborn)
    await client.stop_container(graceful, 20)
    assert (await client.container_status(graceful)).exit_code == 7
    await client.stop_container(stubborn, 1)
    assert (await client.container_status(stubborn)).exit_code == 137


@needs_containerd
async def test_command_runs_in_a_container(client: CriClient, tmp_path: Path) -> None:
    await client.pull_image(IMAGE)
    _, container = await run(client, tmp_path, "main", "exec sleep 1000")
    response = await client.exec_sync(container, ["/bin/sh", "-c", "echo out; echo err >&2; exit 4"], 10)
    assert (response.stdout, response.stderr, response.exit_code) == (b"out\n", b"err\n", 4)


@needs_containerd
async def test_sandbox_image_is_pulled_from_the_registry(client: CriClient, tmp_path: Path) -> None:
    await client.run_pod_sandbox(sandbox_config(tmp_path))
    assert await client.image_status(PAUSE) is not None


async def test_missing_runtime_is_unavailable(tmp_path: Path) -> None:
    async with CriClient(str(tmp_path / "no.sock")) as client:
        with pytest.raises(RuntimeUnavailable, match="rpc error: code = Unavailable"):
            await client.version()
        with pytest.raises(RuntimeUnavailable, match="code = DeadlineExceeded"):
            await client.connect(0.2)


async def test_closed_client_is_unavailable(tmp_path: Path) -> None:
    client = CriClient(str(tmp_path / "no.sock"))
    with pytest.raises(RuntimeUnavailable, match="the client is closed"):
        await client.version()


@pytest.mark.parametrize(
    ("code", "name"),
    [(grpc.StatusCode.NOT_FOUND, "NotFound"), (grpc.StatusCode.CANCELLED, "Canceled"), (grpc.StatusCode.OK, "OK")],
)
def test_errors_have_the_text_of_go(code: grpc.StatusCode, name: str) -> None:
    assert str(CriError("Version", code, "why")) == f"rpc error: code = {name} desc = why"
