"""Volumes of a driver in containers of a node with containerd, used with kubectl."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from tests.e2e.cri.conftest import Cluster
from tests.e2e.cri.test_pods import manifest
from tests.e2e.csi.driver import Driver, driver
from tests.e2e.csi.settings import Settings

pytestmark = pytest.mark.e2e
NAME = "test.csi.sampan.dev"


@pytest.fixture(scope="module")
def running(cluster: Cluster) -> Iterator[Driver]:
    """Run the driver on the machine, and its CSIDriver."""
    root = cluster.machine.root
    registry = root.parent / "data" / "node" / "plugins_registry"
    assert registry.parent.is_dir()
    settings = Settings(root / "driver", root / "csi.sock", registry)
    spec = {"attachRequired": False, "volumeLifecycleModes": ["Persistent", "Ephemeral"], "podInfoOnMount": True}
    csi_driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": NAME}, "spec": spec}
    cluster.kubectl.apply(json.dumps(csi_driver))
    with driver(settings, enter=tuple(cluster.machine.enter)) as found:
        cluster.until(lambda: NAME in cluster.kubectl("get", "csinodes", "-o", "yaml"), "the registration")
        yield found


def volume(cluster: Cluster, name: str, handle: str, mode: str = "Filesystem") -> dict[str, Any]:
    """Create a volume with a claim, and return the source for a Pod."""
    reference = {"namespace": "default", "name": name}
    common = {"accessModes": ["ReadWriteOnce"], "volumeMode": mode, "storageClassName": ""}
    spec = {**common, "capacity": {"storage": "8Mi"}, "csi": {"driver": NAME, "volumeHandle": handle}}
    claim = {**common, "resources": {"requests": {"storage": "8Mi"}}, "volumeName": name}
    for kind, content in (("PersistentVolume", {**spec, "claimRef": reference}), ("PersistentVolumeClaim", claim)):
        obj = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": content}
        cluster.kubectl.apply(json.dumps(obj))
    return {"name": "data", "persistentVolumeClaim": {"claimName": name}}


def test_container_writes_to_a_volume_that_outlives_its_pod(cluster: Cluster, running: Driver) -> None:
    source = {"volumes": [volume(cluster, "files", "h")], "terminationGracePeriodSeconds": 1}
    mounts = [{"name": "data", "mountPath": "/data"}]
    cluster.kubectl.apply(manifest("writer", "echo kept > /data/file; sleep 1000", spec=source, volumeMounts=mounts))
    cluster.ready("writer")
    cluster.kubectl("delete", "pod", "writer", "--timeout=60s")
    assert running.methods("NodeUn")[-2:] == ["NodeUnpublishVolume", "NodeUnstageVolume"]
    cluster.kubectl.apply(manifest("reader", "cat /data/file; sleep 1000", spec=source, volumeMounts=mounts))
    cluster.ready("reader")
    cluster.until(lambda: "kept" in cluster.kubectl("logs", "reader"), "the file")
    cluster.kubectl("delete", "pod", "reader", "--timeout=60s")


def test_inline_volume(cluster: Cluster, running: Driver) -> None:
    source = {"volumes": [{"name": "data", "csi": {"driver": NAME}}], "terminationGracePeriodSeconds": 1}
    mounts = [{"name": "data", "mountPath": "/data"}]
    cluster.kubectl.apply(manifest("inline", "echo hi > /data/file; sleep 1000", spec=source, volumeMounts=mounts))
    cluster.ready("inline")
    cluster.kubectl("delete", "pod", "inline", "--timeout=60s")


def test_block_volume_is_a_device(cluster: Cluster, running: Driver) -> None:
    source = {"volumes": [volume(cluster, "block", "block-1", "Block")], "terminationGracePeriodSeconds": 1}
    script = "echo content > /dev/data && head -c 8 /dev/data; test -b /dev/data && echo device; sleep 1000"
    devices = [{"name": "data", "devicePath": "/dev/data"}]
    cluster.kubectl.apply(manifest("raw", script, spec=source, volumeDevices=devices))
    cluster.ready("raw")
    cluster.until(lambda: "content\ndevice" in cluster.kubectl("logs", "raw"), "the content of the device")
    cluster.kubectl("delete", "pod", "raw", "--timeout=60s")
    assert running.methods("NodeUn")[-2:] == ["NodeUnpublishVolume", "NodeUnstageVolume"]


def test_killed_agent_unmounts_after_its_restart(cluster: Cluster, running: Driver) -> None:
    source = {"volumes": [volume(cluster, "more", "h2")], "terminationGracePeriodSeconds": 1}
    mounts = [{"name": "data", "mountPath": "/data"}]
    cluster.kubectl.apply(manifest("survivor", "sleep 1000", spec=source, volumeMounts=mounts))
    cluster.ready("survivor")
    [before] = cluster.agent_pids()
    cluster.machine.run("kill", f"-{signal.SIGKILL.value}", before)
    cluster.until(lambda: [pid for pid in cluster.agent_pids() if pid != before], "the next agent")
    cluster.kubectl("delete", "pod", "survivor", "--timeout=60s")
    assert running.methods("NodeUn")[-2:] == ["NodeUnpublishVolume", "NodeUnstageVolume"]
