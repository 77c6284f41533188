"""Volumes that are directories of a node: their files, their deletion, and what no client can make the node delete."""

import os
import shutil
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.component_base.context import ControllerContext
from sampan.component_base.local_path import (
    DELETED,
    DRIVER,
    FINALIZER,
    NODE,
    PROVISIONED_BY,
    PROVISIONER,
    TO_DELETE,
    deleted,
)
from sampan.component_base.resources import (
    EVENTS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
)
from sampan.controllers import local_path, persistent_volumes
from sampan.controllers.volumes import volume_protection
from sampan.node.local_path.directories import NAME, LocalDirectories
from sampan.node.local_path.quota import ATTEMPTS_MAX, COUNT, FIRST, free_number
from sampan.node.nodes import ProcessNode
from sampan.node.set_up import set_up
from sampan.resource import Object, meta
from sampan.wire import json
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.node.test_process_pods import create, has_phase, is_ready, node, shell
from tests.properties import examples

UID = "0f2e4c66-1111-4222-8333-abcdefabcdef"
CLASS = {
    "metadata": {"name": "local-path"},
    "provisioner": "sampan.dev/local-path",
    "volumeBindingMode": "WaitForFirstConsumer",
}
CLAIM = {
    "metadata": {"name": "data", "annotations": {"volume.kubernetes.io/selected-node": "node"}},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "local-path",
    },
}
VOLUMES = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
MOUNTS = [{"name": "data", "mountPath": "/sampan-test/data"}]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Directory of the node."""
    return tmp_path / "node"


@asynccontextmanager
async def running(root: Path) -> AsyncIterator[Working]:
    """Run a cluster with a node of processes, and a claim for a volume on it."""

    def with_node(context: ControllerContext) -> None:
        set_up(context, ProcessNode("node", root))

    loops = (local_path.set_up, persistent_volumes.set_up, volume_protection.set_up_volumes, with_node)
    async with connected() as (client, _), working(client, *loops) as cluster:
        await cluster.until(NODES, "node", is_ready)
        await cluster.create(STORAGE_CLASSES, CLASS)
        await cluster.create(PERSISTENT_VOLUME_CLAIMS, CLAIM)
        yield cluster


async def volume_of(cluster: Working) -> Object:
    """Return the volume of the claim, when it is bound."""
    claim = await cluster.until(PERSISTENT_VOLUME_CLAIMS, "data", has_phase("Bound"))
    return await cluster.get(PERSISTENT_VOLUMES, claim["spec"]["volumeName"])


async def written(cluster: Working, **spec: Any) -> Object:
    """Run a Pod that writes a file to the volume, and return the volume."""
    await create(cluster, shell("echo row > /sampan-test/data/file", volumeMounts=MOUNTS), volumes=VOLUMES, **spec)
    await cluster.until(PODS, "web", has_phase("Succeeded"))
    return await volume_of(cluster)


async def test_files_survive_their_pod_and_end_with_their_claim(root: Path) -> None:
    async with running(root) as cluster:
        volume = await written(cluster, restartPolicy="Never")
        directory = root / NAME / meta(volume).uid
        await cluster.delete(PODS, "web")
        await cluster.until_gone(PODS, "web")
        assert (directory / "file").read_text() == "row\n"
        await cluster.delete(PERSISTENT_VOLUME_CLAIMS, "data")
        await cluster.until_gone(PERSISTENT_VOLUMES, meta(volume).name)
        assert not directory.exists()
        await cluster.until(NODES, "node", lambda node: not {TO_DELETE, DELETED} & meta(node).annotations.keys())


async def released(cluster: Working, name: str, phase: str = "Released", **changes: Any) -> Object:
    """Create a volume of the node that is being deleted, with these changes of its spec or annotations."""
    attributes = {NODE: changes.pop("node", "node")}
    annotations = {PROVISIONED_BY: changes.pop("provisioner", PROVISIONER)}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "claimRef": {"namespace": "default", "name": "c", "uid": UID},
        "csi": {"driver": DRIVER, "volumeHandle": name, "volumeAttributes": attributes},
        "persistentVolumeReclaimPolicy": "Delete",
        **changes,
    }
    metadata = {"name": name, "annotations": annotations, "finalizers": [FINALIZER]}
    made = await cluster.create(PERSISTENT_VOLUMES, {"metadata": metadata, "spec": spec})
    await cluster.patch_status(PERSISTENT_VOLUMES, name, {"phase": phase})
    return made


async def test_a_client_with_the_right_to_write_nodes_can_only_delete_released_volumes_of_the_node(root: Path) -> None:
    async with node(root) as cluster:
        await cluster.until(NODES, "node", is_ready)
        unchanged = {
            "bound": await released(cluster, "bound", phase="Bound"),
            "retained": await released(cluster, "retained", persistentVolumeReclaimPolicy="Retain"),
            "elsewhere": await released(cluster, "elsewhere", node="other"),
            "foreign": await released(cluster, "foreign", provisioner="disk.example.com"),
            "live": await released(cluster, "live"),
        }
        last = await released(cluster, "released")
        for name in ("bound", "retained", "elsewhere", "foreign", "released"):
            await cluster.delete(PERSISTENT_VOLUMES, name)
        directories = LocalDirectories(root)
        paths = {meta(each).uid: directories.prepare(meta(each).uid, 0) for each in (*unchanged.values(), last)}
        unknown = directories.prepare(UID, 0)
        named = {name: meta(each).uid for name, each in unchanged.items()}
        text = json.encode({**named, "no-volume": UID, "..": "..", "released": meta(last).uid}).decode()
        await cluster.patch(NODES, "node", {"metadata": {"annotations": {TO_DELETE: text}}})
        done = await cluster.until(NODES, "node", lambda found: DELETED in meta(found).annotations)
        assert deleted(meta(done).annotations) == {meta(last).uid}
        assert {uid for uid, path in paths.items() if not path.exists()} == {meta(last).uid}
        assert unknown.exists()


async def test_a_listed_uid_of_another_volume_is_not_deleted(root: Path) -> None:
    async with node(root) as cluster:
        await cluster.until(NODES, "node", is_ready)
        made = await released(cluster, "released")
        await cluster.delete(PERSISTENT_VOLUMES, "released")
        other = LocalDirectories(root).prepare(UID, 0)
        for uid in (UID, meta(made).uid):
            text = json.encode({"released": uid}).decode()
            await cluster.patch(NODES, "node", {"metadata": {"annotations": {TO_DELETE: text}}})
        await cluster.until(NODES, "node", lambda found: deleted(meta(found).annotations) == {meta(made).uid})
        assert other.exists()


async def test_a_volume_that_a_client_made_gets_no_directory_of_another_volume(root: Path) -> None:
    async with running(root) as cluster:
        volume = await written(cluster, restartPolicy="Never")
        source = {**volume["spec"]["csi"], "volumeHandle": meta(volume).uid}
        reference = {"namespace": "default", "name": "stolen"}
        spec = {**volume["spec"], "csi": source, "claimRef": reference, "storageClassName": ""}
        await cluster.create(PERSISTENT_VOLUMES, {"metadata": {"name": "made"}, "spec": spec})
        spec = {**CLAIM["spec"], "storageClassName": "", "volumeName": "made"}
        await cluster.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "stolen"}, "spec": spec})
        await cluster.until(PERSISTENT_VOLUME_CLAIMS, "stolen", has_phase("Bound"))
        stolen = [{"name": "data", "persistentVolumeClaim": {"claimName": "stolen"}}]
        container = shell("true", volumeMounts=MOUNTS)
        pod = {"nodeName": "node", "automountServiceAccountToken": False, "containers": [container], "volumes": stolen}
        await cluster.create(PODS, {"metadata": {"name": "thief"}, "spec": pod})
        text = 'PV "made" was not created by sampan.dev/local-path'
        await cluster.until_all(EVENTS, lambda events: any(text in each.get("message", "") for each in events))


@pytest.mark.parametrize("uid", ["", ".", "..", "../x", f"new-{UID}", f"{UID}/..", f"/{UID}", UID.upper()])
def test_only_the_uid_of_a_volume_names_a_directory(tmp_path: Path, uid: str) -> None:
    directories = LocalDirectories(tmp_path)
    with pytest.raises(ValueError, match="is not the UID of a volume"):
        directories.prepare(uid, 0)
    with pytest.raises(ValueError, match="is not the UID of a volume"):
        directories.remove(uid)


def test_every_user_can_write_to_a_directory_that_only_the_agent_can_reach(tmp_path: Path) -> None:
    made = LocalDirectories(tmp_path).prepare(UID, 0)
    assert stat.S_IMODE(made.stat().st_mode) == 0o777
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o700


def test_a_second_preparation_changes_nothing(tmp_path: Path) -> None:
    directories = LocalDirectories(tmp_path)
    made = directories.prepare(UID, 0)
    made.chmod(0o2770)
    (made / "file").touch()
    assert directories.prepare(UID, 0) == made
    assert (stat.S_IMODE(made.stat().st_mode), (made / "file").exists()) == (0o2770, True)


def test_an_interrupted_creation_is_completed(tmp_path: Path) -> None:
    (tmp_path / NAME / f"new-{UID}").mkdir(parents=True)
    assert LocalDirectories(tmp_path).prepare(UID, 0).is_dir()
    assert os.listdir(tmp_path / NAME) == [UID]


def test_the_deletion_follows_no_link_of_a_container(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").touch()
    directories = LocalDirectories(tmp_path)
    made = directories.prepare(UID, 0)
    (made / "link").symlink_to(tmp_path / "outside")
    (made / "inner").mkdir(mode=0o000)
    assert directories.remove(UID)
    assert directories.remove(UID)
    assert (tmp_path / "outside" / "file").exists()


def test_a_link_in_place_of_a_directory_is_neither_used_nor_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / UID).symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="symbolic"):
        LocalDirectories(tmp_path).prepare(UID, 0)
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) != 0o777
    LocalDirectories(tmp_path).remove(UID)
    assert (tmp_path / "outside").is_dir()


@given(st.lists(st.uuids().map(str), max_size=50, unique=True), st.sets(st.integers(FIRST, FIRST + COUNT - 1)))
@settings(max_examples=examples(50))
def test_volumes_get_different_projects_that_no_other_program_uses(uids: list[str], taken: set[int]) -> None:
    used = set(taken)
    for uid in uids:
        number = free_number(uid, used.__contains__)
        assert number is not None
        assert number not in used
        assert FIRST <= number < FIRST + COUNT
        used.add(number)


def test_the_search_for_a_project_ends() -> None:
    tried: list[int] = []

    def is_used(number: int) -> bool:
        tried.append(number)
        return True

    assert free_number(UID, is_used) is None
    assert len(tried) == ATTEMPTS_MAX


def test_missing_project_quotas_are_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sampan.node.local_path.directories.assign", lambda fd, uid: False)
    made = LocalDirectories(tmp_path)
    for number in range(3):
        made.prepare(f"{UID[:-1]}{number}", 1 << 20)
    assert [each.getMessage().partition(":")[0] for each in caplog.records] == ["the size of volumes is no limit"]


def test_volume_without_a_size_logs_nothing_about_quotas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sampan.node.local_path.directories.assign", lambda fd, uid: False)
    LocalDirectories(tmp_path).prepare(UID, 0)
    assert not caplog.records


@pytest.fixture
def limited(tmp_path: Path) -> Any:
    """Mount a file system with project quotas, if this machine can."""
    image, place = tmp_path / "image", tmp_path / "mounted"
    place.mkdir()
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        pytest.skip("needs root and mkfs.ext4")
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-I", "256", "-O", "quota,project", str(image)], check=True)
    options = ["-o", "loop,prjquota"]
    mounted = subprocess.run(["mount", *options, str(image), str(place)], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("this kernel mounts no ext4 with project quotas (CONFIG_QFMT_V2, loop devices)")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_project_quota_limits_the_files_of_a_volume(limited: Path) -> None:
    directories = LocalDirectories(limited)
    made = directories.prepare(UID, 4 << 20)
    with pytest.raises(OSError, match=r"quota|space"):
        (made / "large").write_bytes(bytes(8 << 20))
    assert directories.remove(UID)
    again = directories.prepare(UID, 16 << 20)
    (again / "large").write_bytes(bytes(8 << 20))
