"""Volumes of a driver in Pods: staging, publishing, and the way back."""

import hashlib
import json
import os

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from sampan.component_base.resources import NODES, PODS, SERVICE_ACCOUNTS
from tests.node.csi.running import DRIVER, cluster, mounts_below, until

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="drivers mount as root")
pytestmark = needs_root


async def test_volume_is_staged_published_and_undone_with_its_pod() -> None:
    async with cluster() as found:
        await found.create_driver(podInfoOnMount=True)
        await found.work.create(SERVICE_ACCOUNTS, {"metadata": {"name": "robot"}})
        await found.create_volume(fsType="ext4", volumeAttributes={"kind": "fast"}, claim={"mountOptions": ["noatime"]})
        pod = await found.run(script="echo hello > /data/file; exec sleep 100", serviceAccountName="robot")
        await found.running()
        (stage,), (publish,) = found.driver.calls("NodeStageVolume"), found.driver.calls("NodePublishVolume")
        digest = hashlib.sha256(b"h").hexdigest()
        staged = found.node / "plugins/kubernetes.io/csi" / DRIVER / digest
        assert stage["request"] == {
            "volume_id": "h",
            "staging_target_path": f"{staged}/globalmount",
            "volume_capability": {
                "mount": {"fs_type": "ext4", "mount_flags": ["noatime"]},
                "access_mode": {"mode": "SINGLE_NODE_WRITER"},
            },
            "volume_context": {"kind": "fast"},
        }
        uid = pod["metadata"]["uid"]
        target = found.node / "pods" / uid / "volumes/kubernetes.io~csi/v"
        assert publish["request"]["target_path"] == f"{target}/mount"
        assert publish["request"]["volume_context"] == {
            "kind": "fast",
            "csi.storage.k8s.io/pod.name": "web",
            "csi.storage.k8s.io/pod.namespace": "default",
            "csi.storage.k8s.io/pod.uid": uid,
            "csi.storage.k8s.io/serviceAccount.name": "robot",
            "csi.storage.k8s.io/ephemeral": "false",
        }
        data = json.loads((target / "vol_data.json").read_text())
        assert (data["driverName"], data["volumeHandle"], data["specVolID"]) == (DRIVER, "h", "v")
        await until((found.root / "driver/volumes/h/file").exists, "the file of the container")
        await found.remove()
        assert found.driver.methods("NodeUn") == ["NodeUnpublishVolume", "NodeUnstageVolume"]
        assert not staged.exists()
        assert not target.parent.exists()
        assert (found.root / "driver/volumes/h/file").read_text() == "hello\n"


async def test_second_pod_uses_the_staged_volume() -> None:
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        await found.run("one")
        await found.run("two")
        await found.running("one")
        await found.running("two")
        assert len(found.driver.calls("NodeStageVolume")) == 1
        assert len(found.driver.calls("NodePublishVolume")) == 2
        await found.remove("one")
        assert "NodeUnstageVolume" not in found.driver.methods()
        await found.remove("two")
        assert found.driver.methods("NodeUn")[-1] == "NodeUnstageVolume"


async def test_driver_without_staging_gets_no_staging_path() -> None:
    async with cluster(node_can=()) as found:
        await found.create_driver()
        await found.create_volume()
        await found.run()
        await found.running()
        (publish,) = found.driver.calls("NodePublishVolume")
        assert "staging_target_path" not in publish["request"]
        await found.remove()
        assert found.driver.methods("NodeUn") == ["NodeUnpublishVolume"]


async def test_pod_waits_for_the_attachment_and_reports_the_volume_in_use() -> None:
    async with cluster() as found:
        await found.create_driver(attachRequired=True)
        await found.create_volume()
        await found.registered()
        await found.run()
        await found.event("FailedMount", f'waiting for {DRIVER} to attach volume "h"')
        node = await found.node_object()
        assert node["status"]["volumesInUse"] == [f"kubernetes.io/csi/{DRIVER}^h"]
        assert not found.driver.calls("NodeStageVolume")
        await found.attach(device="/dev/x")
        await found.running()
        for method in ("NodeStageVolume", "NodePublishVolume"):
            assert found.driver.calls(method)[0]["request"]["publish_context"] == {"device": "/dev/x"}
        await found.remove()
        await found.work.until(NODES, "node", lambda node: not node["status"].get("volumesInUse"))


async def test_volumes_of_a_finished_pod_are_unmounted() -> None:
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        await found.run(script="true", restartPolicy="Never")
        await found.ended()
        await found.called("NodeUnpublishVolume", "NodeUnstageVolume")
        assert mounts_below(found.node) == []


async def test_pod_stays_while_its_volume_cannot_be_unpublished() -> None:
    async with cluster() as found:
        await found.create_driver()
        await found.create_volume()
        await found.run()
        await found.running()
        found.driver.fail(NodeUnpublishVolume={"code": "INTERNAL", "message": "busy"})
        await found.work.delete(PODS, "web")
        await until(lambda: bool(found.driver.calls("NodeUnpublishVolume")), "the first attempt")
        assert await found.work.exists(PODS, "web")
        found.driver.fail()
        await found.work.until_gone(PODS, "web")
        assert mounts_below(found.node) == []
