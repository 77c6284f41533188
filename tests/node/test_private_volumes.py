"""Isolation of Pods' files from other users of the machine, and clean-up of volumes."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sampan.component_base.resources import (
    CONFIG_MAPS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from sampan.node.process.instance import instance_of
from sampan.node.tmpfs import TmpfsMounts
from sampan.registry.cluster import Cluster
from sampan.server.authentication.service_account.issuer import TokenIssuer
from sampan.server.authentication.token_service import TokenService
from tests.controllers.cluster import Working
from tests.node.process.running import node as runtime_node
from tests.node.process.running import pod, sh
from tests.node.test_process_pods import create, has_phase, is_ready, message, node, shell
from tests.server.authentication.accounts import ISSUER, KEY

OTHER_USER = 65534
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "v"}
VOLUME = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
SECRET_TEXT = "wT7-secret-of-this-test"


def may_mount() -> bool:
    """Return whether this process may mount a tmpfs."""
    directory = Path(tempfile.mkdtemp())
    mounts = TmpfsMounts(directory)
    try:
        return mounts.mount(directory / "trial")
    finally:
        mounts.unmount_all()
        shutil.rmtree(directory)


needs_mounts = pytest.mark.skipif(not may_mount(), reason="mounting a tmpfs needs root with CAP_SYS_ADMIN")


@pytest.fixture
def root() -> Iterator[Path]:
    """Return a node's directory in a place that every user of the machine can enter."""
    directory = Path(tempfile.mkdtemp(prefix="sampan-private-"))
    directory.chmod(0o755)
    yield directory / "node"
    assert mounts_below(directory) == []
    shutil.rmtree(directory)


def issuing(cluster: Cluster) -> TokenService:
    """Server that issues tokens of ServiceAccounts."""
    return TokenService([], ("api",), TokenIssuer(ISSUER, KEY))


def mounts_below(directory: Path) -> list[str]:
    """Return the mount points below a directory."""
    points = [line.split(" ")[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if point.startswith(f"{directory}/")]


async def create_with_secrets(cluster: Working, script: str = "exec sleep 100", **spec: Any) -> None:
    """Return a Pod with a Secret, a ConfigMap, a token, a part of a Secret, and an emptyDir in memory."""
    await cluster.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"key": SECRET_TEXT}})
    await cluster.create(CONFIG_MAPS, {"metadata": {"name": "c"}, "data": {"key": SECRET_TEXT}})
    await cluster.create(SERVICE_ACCOUNTS, {"metadata": {"name": "builder"}})
    volumes = [
        {"name": "secret", "secret": {"secretName": "s"}},
        {"name": "config", "configMap": {"name": "c", "items": [{"key": "key", "path": "deep/key", "mode": 0o400}]}},
        {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
        {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        {"name": "disk", "emptyDir": {}},
    ]
    mounts = [{"name": each["name"], "mountPath": f"/v/{each['name']}"} for each in volumes]
    mounts.append({"name": "secret", "mountPath": "/v/part", "subPath": "key"})
    container = shell(script, volumeMounts=mounts)
    await create(cluster, container, volumes=volumes, serviceAccountName="builder", **spec)


def readable_by(user: int, directory: Path) -> str:
    """Return everything that a user can read below a directory."""
    command = ["grep", "-rsh", "", str(directory)]
    return subprocess.run(
        command, user=user, group=user, extra_groups=[], cwd="/", capture_output=True, text=True, check=False
    ).stdout


def files_on_disk(directory: Path, text: str) -> str:
    """Return the files with a text that are on the same file system as the directory."""
    command = ["find", str(directory), "-xdev", "-type", "f", "-exec", "grep", "-l", text, "{}", "+"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def searched_by_pod(root: Path) -> str:
    """Return a command that searches all Pods' directories, also those in the container's own file system.

    The rest of that file system is the machine's, which may have millions of files.
    """
    own = f"{root}/pods/*/containers/main/0/root"
    pods = f"find {root} -path '{own}' -prune -o -type f -exec grep -l wT7 {{}} +"
    return f"{pods}; grep -r wT7 {own}{root} 2>/dev/null"


def made(volume: Path) -> Path:
    """Return a volume with a file."""
    volume.mkdir(parents=True)
    (volume / "key").write_text("content")
    return volume


def content_of(path: Path) -> str:
    return path.read_text()


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def until(holds: Callable[[], bool]) -> None:
    """Poll for a condition without an event."""
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - the kernel has no event for it
            await asyncio.sleep(0.02)


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
async def test_other_user_of_the_machine_reads_nothing_of_a_pod(root: Path) -> None:
    async with node(root, identity=issuing) as cluster:
        await create_with_secrets(cluster)
        await cluster.until(PODS, "web", is_ready)
        assert SECRET_TEXT in readable_by(0, root)
        assert readable_by(OTHER_USER, root) == ""
        assert mode_of(root) == 0o750


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
@pytest.mark.parametrize("security", [{}, {"runAsUser": OTHER_USER, "runAsGroup": OTHER_USER}], ids=["root", "other"])
async def test_pod_does_not_see_volumes_of_another_pod(root: Path, security: dict[str, int]) -> None:
    async with node(root, identity=issuing) as cluster:
        await create_with_secrets(cluster)
        await cluster.until(PODS, "web", is_ready)
        spec = {
            "nodeName": "node",
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "securityContext": security,
            "containers": [shell(f"({searched_by_pod(root)}) | tee /dev/termination-log")],
        }
        await cluster.create(PODS, {"metadata": {"name": "spy"}, "spec": spec})
        spy = await cluster.until(PODS, "spy", lambda pod: pod["status"]["phase"] in ("Succeeded", "Failed"))
    assert spy["status"]["containerStatuses"][0]["state"]["terminated"].get("message", "") == ""


@needs_mounts
async def test_files_that_the_agent_writes_stay_off_the_disk(root: Path) -> None:
    async with node(root, identity=issuing) as cluster:
        await create_with_secrets(cluster)
        await cluster.until(PODS, "web", is_ready)
        assert files_on_disk(root, SECRET_TEXT) == ""
        assert len(mounts_below(root)) == 5


@needs_mounts
async def test_empty_dir_in_memory_has_its_size(root: Path) -> None:
    script = "cd /v/memory; stat -f -c %T . ; head -c 2000000 /dev/zero > big 2>/dev/null; wc -c < big; stat -c %a ."
    async with node(root, identity=issuing) as cluster:
        await create_with_secrets(cluster, f"{{ {script}; }} | xargs > /dev/termination-log", restartPolicy="Never")
        assert (await message(cluster)).split() == ["tmpfs", "1048576", "777"]


@needs_mounts
async def test_deleted_pod_leaves_no_mounts(root: Path) -> None:
    async with node(root, identity=issuing) as cluster:
        await create_with_secrets(cluster, terminationGracePeriodSeconds=0)
        await cluster.until(PODS, "web", is_ready)
        await cluster.delete(PODS, "web")
        await cluster.until_gone(PODS, "web")
        await until(lambda: not mounts_below(root) and not list((root / "pods").iterdir()))


@needs_mounts
async def test_stopped_agent_leaves_no_mounts(root: Path) -> None:
    async with node(root, identity=issuing) as cluster:
        await create_with_secrets(cluster)
        await cluster.until(PODS, "web", is_ready)
    assert mounts_below(root) == []


_AGENT = """
import asyncio, sys
from pathlib import Path
from sampan.node.process.launch import Launcher, LaunchSpec
from sampan.node.process.streams.stdio import open_stdio
from sampan.node.sessions import Streams
from sampan.node.process.instance import instance_of
from sampan.node.tmpfs import TmpfsMounts
from sampan.registry.cluster import Cluster
from sampan.server.authentication.service_account.issuer import TokenIssuer
from sampan.server.authentication.token_service import TokenService

async def main():
    root = Path(sys.argv[1])
    mounts = TmpfsMounts(root)
    launcher = Launcher(mounts.source)
    stdio = open_stdio(Streams(stdout=False, stderr=False))
    process = await launcher.launch(LaunchSpec(["true"], {"PATH": "/bin"}), stdio, lambda pid: None)
    await process.wait()
    for name in ("a b", "c"):
        assert mounts.mount(root / name)
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@needs_mounts
async def test_killed_agent_leaves_no_mounts(root: Path) -> None:
    agent = await asyncio.create_subprocess_exec(sys.executable, "-c", _AGENT, str(root), stdout=subprocess.PIPE)
    assert agent.stdout is not None
    assert await agent.stdout.readline() == b"ready\n"
    assert len(mounts_below(root)) == 2
    agent.send_signal(signal.SIGKILL)
    await agent.wait()
    await until(lambda: not mounts_below(root))


@needs_mounts
def test_next_agent_unmounts_what_a_killed_agent_and_launcher_have_left(root: Path) -> None:
    killed = TmpfsMounts(root)
    killed.source = "sampan-of-another-process"
    assert killed.mount(root / "pods" / "uid" / "volumes")
    after = TmpfsMounts(root)
    after.unmount_all()
    assert len(mounts_below(root)) == 1  # belongs to another agent, which may still run
    after.reset()
    assert mounts_below(root) == []


@needs_mounts
def test_files_of_an_earlier_agent_do_not_stay_below_the_mount(root: Path) -> None:
    volume = root / "volume"
    volume.mkdir(parents=True)
    (volume / "key").write_text(SECRET_TEXT)
    mounts = TmpfsMounts(root)
    assert mounts.mount(volume)
    mounts.unmount_all()
    assert list(volume.iterdir()) == []


def test_directory_with_other_files_keeps_its_mode(root: Path) -> None:
    root.mkdir(mode=0o755)
    (root / "other").touch()
    instance_of(root)
    assert mode_of(root) == 0o755


# ---- owners and modes


def token_pod(mode: int | None = None, **security: int) -> dict[str, Any]:
    volume: dict[str, Any] = {"sources": [{"serviceAccountToken": {"path": "token"}}]}
    if mode is not None:
        volume["defaultMode"] = mode
    return {
        "volumes": [{"name": "token", "projected": volume}],
        "securityContext": security,
        "serviceAccountName": "builder",
        "restartPolicy": "Never",
    }


@needs_mounts
@pytest.mark.parametrize(
    ("spec", "own", "expected"),
    [
        (token_pod(), {}, "644 0 0"),
        (token_pod(0o400), {}, "400 0 0"),
        (token_pod(runAsUser=1234), {}, "600 1234 0"),
        (token_pod(fsGroup=4321), {}, "640 0 4321"),
        (token_pod(runAsUser=1234, fsGroup=4321), {}, "640 1234 4321"),
        (token_pod(), {"runAsUser": 1234}, "600 1234 0"),
        (token_pod(runAsUser=99), {"runAsUser": 1234}, "600 1234 0"),
    ],
    ids=["nobody", "mode", "user", "group", "user and group", "container's user", "container's before Pod's"],
)
async def test_token_has_the_owner_and_mode_of_the_kubelet(
    root: Path, spec: dict[str, Any], own: dict[str, int], expected: str
) -> None:
    async with node(root, identity=issuing) as cluster:
        await cluster.create(SERVICE_ACCOUNTS, {"metadata": {"name": "builder"}})
        script = "{ stat -L -c '%a %u %g' /t/token; wc -c < /t/token; } > /dev/termination-log"
        container = shell(script, volumeMounts=[{"name": "token", "mountPath": "/t"}], securityContext=own)
        await create(cluster, container, **spec)
        access, length = (await message(cluster)).splitlines()
    assert access == expected
    assert int(length) > 100


@needs_mounts
async def test_containers_with_different_users_read_a_token_by_its_default_mode(root: Path) -> None:
    async with node(root, identity=issuing) as cluster:
        await cluster.create(SERVICE_ACCOUNTS, {"metadata": {"name": "builder"}})
        mounts = [{"name": "token", "mountPath": "/t"}]
        containers = [
            shell("cat /t/token", f"c{user}", volumeMounts=mounts, securityContext={"runAsUser": user})
            for user in (1234, 1235)
        ]
        await create(cluster, *containers, **token_pod())
        await cluster.until(PODS, "web", has_phase("Succeeded"))


@needs_mounts
@pytest.mark.parametrize(
    ("security", "expected"),
    [({}, ["644 0 0", "400 0 0", "755 0 0"]), ({"fsGroup": 4321}, ["644 0 4321", "440 0 4321", "2755 0 4321"])],
    ids=["plain", "fsGroup"],
)
async def test_files_of_a_secret_have_the_modes_of_the_kubelet(
    root: Path, security: dict[str, int], expected: list[str]
) -> None:
    source = {"secretName": "s", "items": [{"key": "a", "path": "a"}, {"key": "b", "path": "d/b", "mode": 0o400}]}
    script = "stat -L -c '%a %u %g' /s/a /s/d/b /s/d > /dev/termination-log"
    async with node(root, identity=issuing) as cluster:
        await cluster.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"a": "1", "b": "2"}})
        container = shell(script, volumeMounts=[{"name": "s", "mountPath": "/s"}])
        volumes = [{"name": "s", "secret": source}]
        await create(cluster, container, volumes=volumes, securityContext=security, restartPolicy="Never")
        assert (await message(cluster)).splitlines() == expected


@needs_mounts
async def test_user_without_namespaces_reaches_the_volumes_of_the_same_pod(root: Path) -> None:
    async with runtime_node(root, "none") as found:
        await found.runtime.recover([])
        await found.runtime.run_sandbox(pod())
        volume = made(root / "pods" / pod().metadata.uid / "volumes" / "v")
        code, log = await found.run(pod(), *sh(f"cat {volume}/key"), run_as_user=1234, run_as_group=1234)
        assert (code, log) == (0, b"content")
        assert readable_by(OTHER_USER, root / "pods" / pod().metadata.uid) == ""


@needs_mounts
async def test_user_reads_a_secret_and_writes_an_empty_dir_through_fs_group(root: Path) -> None:
    security = {"runAsUser": 1234, "runAsGroup": 1235, "fsGroup": 4321, "supplementalGroups": [77]}
    script = "{ cat /s/a; id -G; touch /e/new && stat -c %g /e/new; } | xargs > /dev/termination-log"
    volumes = [{"name": "s", "secret": {"secretName": "s", "defaultMode": 0o400}}, {"name": "e", "emptyDir": {}}]
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    async with node(root, identity=issuing) as cluster:
        await cluster.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"a": "read"}})
        container = shell(script, volumeMounts=mounts)
        await create(cluster, container, volumes=volumes, securityContext=security, restartPolicy="Never")
        assert (await message(cluster)).split() == ["read1235", "77", "4321", "4321"]


@needs_mounts
async def test_any_user_writes_to_a_claim_with_a_new_directory(root: Path) -> None:
    path = root.parent / "new" / "volume"
    async with node(root, identity=issuing) as cluster:
        claim = await cluster.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "c"}, "spec": CLAIM})
        reference = {"namespace": "default", "name": "c", "uid": claim["metadata"]["uid"]}
        volume = {**VOLUME, "claimRef": reference, "hostPath": {"path": str(path), "type": "DirectoryOrCreate"}}
        await cluster.create(PERSISTENT_VOLUMES, {"metadata": {"name": "v"}, "spec": volume})
        await cluster.patch_status(PERSISTENT_VOLUME_CLAIMS, "c", {"phase": "Bound"})
        container = shell("echo text > /v/file", volumeMounts=[{"name": "v", "mountPath": "/v"}])
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
        await create(cluster, container, volumes=volumes, securityContext={"runAsUser": 1234}, restartPolicy="Never")
        await cluster.until(PODS, "web", has_phase("Succeeded"))
    assert content_of(path / "file") == "text\n"
