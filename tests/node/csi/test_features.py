"""Features that a CSIDriver object or the capabilities of a driver switch on."""

import asyncio
import json
import os
import stat
from typing import Any

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, SECRETS, SERVICE_ACCOUNTS
from sampan.node.csi import expansion, mounts, stats
from sampan.node.csi.lazy import LazyCsi
from sampan.node.csi.requests import TOKENS
from tests.e2e.csi.settings import NODE
from tests.node.csi.running import DRIVER, cluster, until
from tests.node.test_private_volumes import issuing

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="drivers mount as root")
INLINE = {"csi": {"driver": DRIVER, "volumeAttributes": {"size": "small"}}}


async def test_inline_volume_lives_as_long_as_its_pod() -> None:
    async with cluster() as found:
        await found.create_driver(volumeLifecycleModes=["Ephemeral"], podInfoOnMount=True, attachRequired=True)
        await found.run(volume=INLINE, script="echo hi > /data/file; exec sleep 100")
        await found.running()
        (publish,) = found.driver.calls("NodePublishVolume")
        handle = publish["request"]["volume_id"]
        assert handle.startswith("csi-")
        assert publish["request"]["volume_context"]["size"] == "small"
        assert publish["request"]["volume_context"]["csi.storage.k8s.io/ephemeral"] == "true"
        assert not found.driver.calls("NodeStageVolume")
        assert (found.root / "driver/volumes" / handle).is_dir()
        await found.remove()
        assert found.driver.methods("NodeUn") == ["NodeUnpublishVolume"]
        assert not (found.root / "driver/volumes" / handle).exists()


@pytest.mark.parametrize(
    ("modes", "text"),
    [
        (["Persistent"], f'volume mode "Ephemeral" not supported by driver {DRIVER} (only supports ["Persistent"])'),
        (None, f'volume mode "Ephemeral" not supported by driver {DRIVER} (no CSIDriver object)'),
    ],
    ids=["persistent", "no-driver-object"],
)
async def test_inline_volume_needs_a_driver_that_lists_it(modes: list[str] | None, text: str) -> None:
    async with cluster() as found:
        if modes is not None:
            await found.create_driver(volumeLifecycleModes=modes)
        await found.run(volume=INLINE)
        await found.event("FailedMount", text)
        await found.remove()


async def test_driver_gets_secrets() -> None:
    async with cluster() as found:
        await found.create_driver()
        for name in ("stage", "publish"):
            await found.work.create(SECRETS, {"metadata": {"name": name}, "stringData": {"key": name}})
        references: dict[str, Any] = {
            f"node{kind.title()}SecretRef": {"name": kind, "namespace": "default"} for kind in ("stage", "publish")
        }
        await found.create_volume(**references)
        await found.run()
        await found.running()
        assert found.driver.calls("NodeStageVolume")[0]["request"]["secrets"] == {"key": "stage"}
        assert found.driver.calls("NodePublishVolume")[0]["request"]["secrets"] == {"key": "publish"}
        await found.remove()


@pytest.mark.parametrize("place", ["volume_context", "secrets"])
async def test_driver_gets_tokens(place: str) -> None:
    async with cluster(identity=issuing) as found:
        tokens = [{"audience": "vault", "expirationSeconds": 600}]
        await found.create_driver(tokenRequests=tokens, serviceAccountTokenInSecrets=place == "secrets")
        await found.create_volume()
        await found.work.create(SERVICE_ACCOUNTS, {"metadata": {"name": "robot"}})
        await found.run(serviceAccountName="robot")
        await found.running()
        request = found.driver.calls("NodePublishVolume")[0]["request"]
        token = json.loads(request[place][TOKENS])["vault"]
        assert token["token"].count(".") == 2
        assert token["expirationTimestamp"].endswith("Z")
        await found.remove()


async def test_driver_with_requires_republish_is_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "REPUBLISH_S", 0.5)
    async with cluster() as found:
        await found.create_driver(requiresRepublish=True)
        await found.create_volume()
        await found.run()
        await until(lambda: len(found.driver.calls("NodePublishVolume")) >= 3, "the third call")
        assert len(found.driver.calls("NodeStageVolume")) == 1
        await found.remove()


@pytest.mark.parametrize(
    ("mode", "more", "expected"),
    [
        ("ReadWriteOnce", (), "SINGLE_NODE_WRITER"),
        ("ReadWriteOnce", ("SINGLE_NODE_MULTI_WRITER",), "SINGLE_NODE_MULTI_WRITER"),
        ("ReadWriteOncePod", ("SINGLE_NODE_MULTI_WRITER",), "SINGLE_NODE_SINGLE_WRITER"),
        ("ReadOnlyMany", (), "MULTI_NODE_READER_ONLY"),
        ("ReadWriteMany", (), "MULTI_NODE_MULTI_WRITER"),
    ],
)
async def test_access_mode_of_the_volume(mode: str, more: tuple[str, ...], expected: str) -> None:
    async with cluster(node_can=(*NODE, *more)) as found:
        await found.create_driver()
        await found.create_volume(claim={"accessModes": [mode]})
        await found.run()
        await found.running()
        capability = found.driver.calls("NodePublishVolume")[0]["request"]["volume_capability"]
        assert capability["access_mode"]["mode"] == expected
        await found.remove()


@pytest.mark.parametrize(
    ("policy", "fs_type", "more", "given", "owned"),
    [
        ("File", "", (), None, True),
        ("None", "ext4", (), None, False),
        ("ReadWriteOnceWithFSType", "ext4", (), None, True),
        ("ReadWriteOnceWithFSType", "", (), None, False),
        ("File", "ext4", ("VOLUME_MOUNT_GROUP",), "4711", False),
    ],
    ids=["file", "none", "with-fs-type", "without-fs-type", "by-the-driver"],
)
async def test_fs_group(policy: str, fs_type: str, more: tuple[str, ...], given: str | None, owned: bool) -> None:
    async with cluster(node_can=(*NODE, *more)) as found:
        await found.create_driver(fsGroupPolicy=policy)
        await found.create_volume(fsType=fs_type)
        content = found.root / "driver/volumes/h"
        content.mkdir(parents=True)
        (content / "file").touch(mode=0o600)
        await found.run(securityContext={"fsGroup": 4711})
        await found.running()
        mount = found.driver.calls("NodePublishVolume")[0]["request"]["volume_capability"].get("mount", {})
        assert mount.get("volume_mount_group") == given
        file, top = (content / "file").stat(), content.stat()
        assert (file.st_gid == 4711, stat.S_IMODE(file.st_mode) == 0o660) == (owned, owned)
        assert (top.st_gid == 4711, bool(top.st_mode & stat.S_ISGID)) == (owned, owned)
        await found.remove()


async def test_volume_that_has_grown_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "PERIOD_S", 0.2)
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        await found.run()
        await found.running()
        found.driver.fail(NodeExpandVolume={"code": "INTERNAL", "message": "locked", "times": 1})
        await found.work.patch(PERSISTENT_VOLUMES, "v", {"spec": {"capacity": {"storage": "2Gi"}}})
        status: dict[str, Any] = {"allocatedResourceStatuses": {"storage": "NodeResizePending"}}
        await found.work.patch_status(PERSISTENT_VOLUME_CLAIMS, "v", status)
        await found.event("VolumeResizeFailed", "locked")

        def has_grown(claim: Any) -> bool:
            return bool(claim["status"]["capacity"]["storage"] == "2Gi")

        claim = await found.work.until(PERSISTENT_VOLUME_CLAIMS, "v", has_grown)
        assert not claim["status"].get("allocatedResourceStatuses")
        await found.event("FileSystemResizeSuccessful", 'succeeded for volume "v"')
        request = found.driver.calls("NodeExpandVolume")[-1]["request"]
        assert request["capacity_range"] == {"required_bytes": str(2 << 30)}
        assert request["staging_target_path"].endswith("/globalmount")
        assert request["volume_path"].endswith("/v/mount")
        await found.remove()


async def test_infeasible_expansion_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "PERIOD_S", 0.2)
    look, looks = expansion.Expansion.look, asyncio.Semaphore(0)

    async def noted(self: expansion.Expansion) -> None:
        await look(self)
        looks.release()

    monkeypatch.setattr(expansion.Expansion, "look", noted)
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        await found.run()
        await found.running()
        found.driver.fail(NodeExpandVolume={"code": "OUT_OF_RANGE", "message": "full"})
        await found.work.patch(PERSISTENT_VOLUMES, "v", {"spec": {"capacity": {"storage": "2Gi"}}})

        def is_infeasible(claim: Any) -> bool:
            found: dict[str, str] = claim["status"].get("allocatedResourceStatuses", {})
            return found.get("storage") == "NodeResizeInfeasible"

        await found.work.until(PERSISTENT_VOLUME_CLAIMS, "v", is_infeasible)
        calls = len(found.driver.calls("NodeExpandVolume"))
        while not looks.locked():
            await looks.acquire()
        for _ in range(4):
            await looks.acquire()
        assert len(found.driver.calls("NodeExpandVolume")) == calls
        await found.remove()


async def test_figures_of_the_volume_come_from_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "PERIOD_S", 0.2)
    nodes: list[LazyCsi] = []
    run = LazyCsi.run

    async def noted(self: LazyCsi) -> None:
        nodes.append(self)
        await run(self)

    monkeypatch.setattr(LazyCsi, "run", noted)
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        pod = await found.run(script="echo hello > /data/file; exec sleep 100")
        await found.running()
        uid = pod["metadata"]["uid"]
        read = nodes[0].stats
        await until(lambda: any(each.get("usedBytes") == 6 for each in read(uid)), "the figures")
        [figures] = read(uid)
        assert figures["name"] == "data"
        assert figures["pvcRef"] == {"name": "v", "namespace": "default"}
        assert (figures["capacityBytes"], figures["availableBytes"]) == (1 << 30, (1 << 30) - 6)
        assert (figures["inodes"], figures["inodesUsed"], figures["inodesFree"]) == (1000, 1, 999)
        await found.remove()


async def test_process_gets_no_block_device() -> None:
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume(claim={"volumeMode": "Block"})
        main = {"name": "main", "image": "shell", "volumeDevices": [{"name": "data", "devicePath": "/dev/data"}]}
        await found.run(containers=[main])
        await found.event("FailedMount", 'PVC "v" has volumeMode Block: processes get no block devices')
        await found.remove()
