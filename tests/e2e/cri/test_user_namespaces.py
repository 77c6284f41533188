"""Pods with their own users on a node with containerd."""

from typing import Any

import pytest

from tests.e2e.cri.conftest import Cluster
from tests.e2e.cri.test_pods import manifest

pytestmark = pytest.mark.e2e
COMMAND = "cat /proc/self/uid_map; id -u; touch /files/new; stat -c %u:%g /files/new /settings/color; exec sleep 1000"


def own_users(name: str, **spec: Any) -> str:
    """Return a Pod with its own users, a volume that it writes and one that it reads."""
    volumes = [{"name": "files", "emptyDir": {}}, {"name": "settings", "configMap": {"name": "settings"}}]
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    return manifest(name, COMMAND, spec={"hostUsers": False, "volumes": volumes, **spec}, volumeMounts=mounts)


@pytest.fixture(scope="module")
def has_user_namespaces(cluster: Cluster) -> bool:
    """True if Pods may have their own users, by the Node's status."""
    cluster.kubectl("create", "configmap", "settings", "--from-literal=color=blue")
    [node] = cluster.kubectl.get("nodes")["items"]
    handlers = node["status"].get("runtimeHandlers", [])
    return any(each["features"]["userNamespaces"] for each in handlers if not each["name"])


def test_a_runtime_without_user_namespaces_does_not_run_a_pod_with_its_own_users(
    cluster: Cluster, has_user_namespaces: bool
) -> None:
    if has_user_namespaces:
        pytest.skip("the runtime has user namespaces")
    cluster.kubectl.apply(own_users("refused"))

    def reported() -> bool:
        events = cluster.kubectl.get("events")["items"]
        return any("does not support user namespaces" in each["message"] for each in events)

    cluster.until(reported, "the event")
    assert not cluster.container("refused").get("started")


def test_each_pod_has_its_own_users_and_files_keep_their_owners(cluster: Cluster, has_user_namespaces: bool) -> None:
    if not has_user_namespaces:
        pytest.skip("the runtime has no user namespaces: they need containerd 2.0 and runc 1.2")
    for name in ("one", "two"):
        cluster.kubectl.apply(own_users(name, securityContext={"fsGroup": 4000}))
    cluster.ready("one", "two")
    logs = {name: cluster.kubectl("logs", name).split("\n") for name in ("one", "two")}
    ranges = {name: lines[0].split() for name, lines in logs.items()}
    assert {(inside, length) for inside, _, length in ranges.values()} == {("0", "65536")}
    first, second = (int(node_id) for _, node_id, _ in ranges.values())
    assert first != second
    assert min(first, second) >= 65536
    assert all(lines[1:4] == ["0", "0:4000", "0:4000"] for lines in logs.values())


def test_the_range_of_a_deleted_pod_is_used_again(cluster: Cluster, has_user_namespaces: bool) -> None:
    if not has_user_namespaces:
        pytest.skip("the runtime has no user namespaces: they need containerd 2.0 and runc 1.2")
    observed = set()
    for _ in range(2):
        cluster.kubectl.apply(own_users("again"))
        cluster.ready("again")
        observed.add(cluster.kubectl("logs", "again").split("\n")[0])
        cluster.kubectl("delete", "pod", "again", "--timeout=30s")
    assert len(observed) == 1
