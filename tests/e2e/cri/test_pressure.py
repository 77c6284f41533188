"""Node with containerd whose disk counts as full from the start."""

from typing import Any

import pytest

from tests.e2e.cri.image import APP, PAUSE
from tests.e2e.cri.lone_node import Server, start_node
from tests.e2e.cri.test_pods import manifest
from tests.machines import wait_for

pytestmark = pytest.mark.e2e
FULL = ("--eviction-hard", "nodefs.available<99%,imagefs.available<99%")


def pressure(server: Server) -> dict[str, Any]:
    """Return the condition DiskPressure of the node; empty before it has one."""
    nodes = server.kubectl.get("nodes")["items"]
    conditions = [each for node in nodes for each in node["status"]["conditions"] if each["type"] == "DiskPressure"]
    return conditions[0] if conditions else {}


def test_full_disk_removes_unused_images_and_refuses_pods(server: Server) -> None:
    images = ("ctr", "-n", "k8s.io", "images", "list", "-q")
    assert APP in server.machine.run(*images)
    start_node(server, *FULL)
    wait_for(lambda: pressure(server).get("status") == "True", "DiskPressure")
    assert pressure(server)["reason"] == "KubeletHasDiskPressure"
    wait_for(lambda: APP not in server.machine.run(*images), "the removal of the image")
    assert PAUSE in server.machine.run(*images)
    taints = "jsonpath={.items[*].spec.taints[*].key}"
    wait_for(lambda: "disk-pressure" in server.kubectl("get", "nodes", "-o", taints), "the taint")
    server.kubectl.apply(manifest("web", "sleep 1000", spec={"nodeName": "node-1"}))
    wait_for(lambda: server.status("web")["phase"] == "Failed", "the refusal")
    message = "Pod was rejected: The node had condition: [DiskPressure]. "
    assert (server.status("web")["reason"], server.status("web")["message"]) == ("Evicted", message)
