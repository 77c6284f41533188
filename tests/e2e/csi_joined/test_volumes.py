"""Volumes of the test driver and of csi-driver-host-path on a node with the rights of `system:node:one`."""

import json
import shutil
from collections.abc import Iterator

import pytest

pytest.importorskip("grpc", reason="needs the extra cri")

from tests.e2e.cri.small_cluster import SmallCluster, small_cluster
from tests.e2e.csi_joined.storage import HOST_PATH, NODE, TEST_DRIVER, Storage, define_snapshots, start
from tests.machines import missing, wait_for

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCluster]:
    """Run a server and a node that joined it; at the end no volume may be left."""
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    with small_cluster(tmp_path_factory.mktemp("j"), [NODE]) as found:
        wait_for(lambda: found.kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        define_snapshots(found.kubectl)
        yield found
        found.kubectl("delete", "pods,pvc,volumesnapshots", "--all", "--timeout=50s")
        wait_for(lambda: not found.kubectl("get", "pv,volumeattachments", "-o", "name"), "the end of all volumes")
        wait_for(lambda: not found.machine(NODE).left(), "the removal of all traces of Pods")


@pytest.fixture(scope="module", params=[TEST_DRIVER, HOST_PATH])
def storage(request: pytest.FixtureRequest, cluster: SmallCluster) -> Storage:
    return start(cluster, request.param)


def test_volume_is_kept_while_the_agent_restarts_and_copied_and_deleted(storage: Storage) -> None:
    kubectl, name = storage.kubectl, storage.prefix
    storage.pod(f"{name}-writer", storage.claim(f"{name}-a"), "echo kept > /data/file")
    assert [each["spec"]["attacher"] for each in kubectl.get("volumeattachments")["items"]] == [storage.name]
    storage.cluster.kill_agent(NODE)
    storage.cluster.start_agent(NODE)
    copies = {"volumeSnapshotClassName": name, "source": {"persistentVolumeClaimName": f"{name}-a"}}
    storage.create("VolumeSnapshot", f"{name}-s", {"spec": copies}, "snapshot.storage.k8s.io/v1")
    kubectl("wait", "--for=jsonpath={.status.readyToUse}=true", f"volumesnapshot/{name}-s", "--timeout=20s")
    storage.delete(f"pod/{name}-writer")
    snapshot = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": f"{name}-s"}
    clone = {"kind": "PersistentVolumeClaim", "name": f"{name}-a"}
    for reader, source in (("restored", snapshot), ("cloned", clone)):
        storage.pod(f"{name}-{reader}", storage.claim(f"{name}-{reader}", source=source), "cat /data/file")
        storage.prints(f"{name}-{reader}", "kept")
    storage.delete(f"pod/{name}-restored", f"pod/{name}-cloned", f"volumesnapshot/{name}-s")
    storage.delete(*(f"pvc/{name}-{each}" for each in ("a", "restored", "cloned")))
    wait_for(lambda: not storage.volumes(), "the deletion of the volumes")


def test_used_volume_grows(storage: Storage) -> None:
    kubectl, name = storage.kubectl, f"{storage.prefix}-grows"
    storage.pod(name, storage.claim(name), "true")
    size = {"spec": {"resources": {"requests": {"storage": "16Mi"}}}}
    kubectl("patch", "pvc", name, "-p", json.dumps(size))
    kubectl("wait", "--for=jsonpath={.status.capacity.storage}=16Mi", f"pvc/{name}", "--timeout=40s")
    storage.delete(f"pod/{name}", f"pvc/{name}")
    wait_for(lambda: not storage.volumes(), "the deletion of the volume")


def test_block_volume_is_a_device(storage: Storage) -> None:
    name = f"{storage.prefix}-block"
    command = "echo content > /dev/data && head -c 8 /dev/data; test -b /dev/data && echo device"
    storage.pod(name, storage.claim(name, mode="Block"), command, is_block=True)
    storage.prints(name, "content\ndevice")
    storage.delete(f"pod/{name}", f"pvc/{name}")
    wait_for(lambda: not storage.volumes(), "the deletion of the volume")


def test_inline_volume(storage: Storage) -> None:
    name = f"{storage.prefix}-inline"
    volume = {"name": "data", "csi": {"driver": storage.name}}
    storage.pod(name, volume, "echo hi > /data/file; cat /data/file")
    storage.prints(name, "hi")
    storage.delete(f"pod/{name}")
