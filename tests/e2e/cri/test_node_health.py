"""Disk of a node with containerd: images in its status, and Pods that use too much."""

import pytest

from tests.e2e.cri.conftest import Cluster
from tests.e2e.cri.image import APP
from tests.e2e.cri.test_pods import manifest

pytestmark = pytest.mark.e2e
FILL = "dd if=/dev/zero of=$FILE bs=64k count=32; sleep 1000"


def test_pod_that_exceeds_the_limit_of_its_volume_is_evicted(cluster: Cluster) -> None:
    volume = {"name": "data", "emptyDir": {"sizeLimit": "1Mi"}}
    mount = {"name": "data", "mountPath": "/data"}
    env = [{"name": "FILE", "value": "/data/file"}]
    cluster.kubectl.apply(manifest("volume", FILL, spec={"volumes": [volume]}, volumeMounts=[mount], env=env))
    cluster.until(lambda: cluster.pod("volume")["status"]["phase"] == "Failed", "the eviction")
    status = cluster.pod("volume")["status"]
    assert status["message"] == 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". '
    assert status["reason"] == "Evicted"
    assert "terminated" in status["containerStatuses"][0]["state"]


def test_container_that_exceeds_its_limit_is_evicted(cluster: Cluster) -> None:
    resources = {"limits": {"ephemeral-storage": "1Mi"}}
    env = [{"name": "FILE", "value": "/tmp/file"}]
    cluster.kubectl.apply(manifest("layer", FILL, resources=resources, env=env))
    # containerd measures writable layers every ten seconds.
    cluster.until(lambda: cluster.pod("layer")["status"]["phase"] == "Failed", "the eviction")
    message = "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. "
    assert cluster.pod("layer")["status"]["message"] == message
    events = cluster.kubectl("get", "events", "--field-selector", "reason=Evicted,involvedObject.name=layer")
    assert message.strip() in events


def test_node_lists_its_images(cluster: Cluster) -> None:
    (node,) = cluster.kubectl.get("nodes")["items"]
    names = [name for image in node["status"]["images"] for name in image["names"]]
    assert APP in names
