"""Two nodes with addresses of IPv4 and IPv6: Pods, Services, names and node ports in both families."""

import ipaddress
import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.cri.image import APP
from tests.e2e.cri.small_cluster import SmallCluster, small_cluster
from tests.machines import missing, wait_for

pytestmark = pytest.mark.e2e
NAMES = ("one", "two")
NAME = "web.default.svc.cluster.local"
HOST_PORT = 8099
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web"},
    "spec": {
        "type": "NodePort",
        "ipFamilyPolicy": "RequireDualStack",
        "selector": {"app": "web"},
        "ports": [{"port": 80, "targetPort": 8080}],
    },
}


def web(node: str) -> str:
    """Return a Pod on a node. It serves the name of the node in both families."""
    command = f"mkdir /w; echo {node} > /w/index.html; exec httpd -f -p [::]:8080 -h /w"
    port = {"containerPort": 8080, "hostPort": HOST_PORT}
    env = [{"name": "HOST_IPS", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIPs"}}}]
    container = {"name": "main", "image": APP, "command": ["sh", "-c", command], "ports": [port], "env": env}
    metadata = {"name": f"web-{node}", "labels": {"app": "web"}}
    spec = {"nodeName": node, "terminationGracePeriodSeconds": 1, "containers": [container]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCluster]:
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    with small_cluster(tmp_path_factory.mktemp("nodes"), NAMES, dual_stack=True) as found:
        kubectl = found.kubectl
        wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        for name in NAMES:
            kubectl.apply(web(name))
        kubectl.apply(json.dumps(SERVICE))
        kubectl("wait", "--for=condition=Ready", "pod/web-one", "pod/web-two", "--timeout=30s")
        yield found
        kubectl("delete", "pods", "--all", "--timeout=50s")


def addresses(cluster: SmallCluster, pod: str) -> list[str]:
    """Return the addresses of a Pod."""
    return [each["ip"] for each in cluster.kubectl.get("pod", pod)["status"]["podIPs"]]


def fetch(cluster: SmallCluster, address: str, port: int) -> str:
    """Return what `web-one` gets from an address."""
    host = f"[{address}]" if ":" in address else address
    return cluster.kubectl("exec", "web-one", "--", "wget", "-qO-", f"http://{host}:{port}/")


def families(texts: list[str]) -> list[int]:
    """Return the IP versions of addresses or ranges."""
    return [ipaddress.ip_interface(text).version for text in texts]


def test_a_node_has_a_range_and_an_address_of_each_family(cluster: SmallCluster) -> None:
    for number, name in enumerate(NAMES, 1):
        node = cluster.kubectl.get("node", name)
        found = [each["address"] for each in node["status"]["addresses"] if each["type"] == "InternalIP"]
        assert found == [cluster.lan.address(number), cluster.lan.address(number, 6)]
        assert families(node["spec"]["podCIDRs"]) == [4, 6]


def test_pods_on_different_nodes_reach_each_other_in_both_families(cluster: SmallCluster) -> None:
    found = addresses(cluster, "web-two")
    assert families(found) == [4, 6]
    assert [fetch(cluster, address, 8080) for address in found] == ["two", "two"]


def test_a_service_has_a_cluster_ip_of_each_family(cluster: SmallCluster) -> None:
    found = cluster.kubectl.get("service", "web")["spec"]["clusterIPs"]
    assert families(found) == [4, 6]
    for address in found:
        assert {fetch(cluster, address, 80) for _ in range(20)} == set(NAMES)


def test_a_service_that_prefers_both_families_gets_both_and_can_lose_one(cluster: SmallCluster) -> None:
    kubectl = cluster.kubectl
    spec = {**SERVICE["spec"], "type": "ClusterIP", "ipFamilyPolicy": "PreferDualStack"}
    kubectl.apply(json.dumps({**SERVICE, "metadata": {"name": "either"}, "spec": spec}))
    first, second = kubectl.get("service", "either")["spec"]["clusterIPs"]
    assert {fetch(cluster, address, 80) for address in (first, second) for _ in range(10)} == set(NAMES)
    kubectl("patch", "service", "either", "-p", '{"spec": {"ipFamilyPolicy": "SingleStack"}}')
    left = kubectl.get("service", "either")["spec"]
    assert (left["clusterIPs"], left["ipFamilies"]) == ([first], ["IPv4"])


def test_pods_know_the_addresses_of_their_node_in_both_families(cluster: SmallCluster) -> None:
    expected = [cluster.lan.address(1), cluster.lan.address(1, 6)]
    status = cluster.kubectl.get("pod", "web-one")["status"]
    assert (status["hostIP"], [each["ip"] for each in status["hostIPs"]]) == (expected[0], expected)
    shown = cluster.kubectl("exec", "web-one", "--", "sh", "-c", "echo $HOST_IPS")
    assert shown.strip().split(",") == expected


def test_dns_has_an_address_of_each_family(cluster: SmallCluster) -> None:
    shown = cluster.kubectl("exec", "web-one", "--", "nslookup", NAME)
    for address in cluster.kubectl.get("service", "web")["spec"]["clusterIPs"]:
        assert address in shown


@pytest.mark.parametrize("family", [4, 6])
def test_node_ports_and_host_ports_work_in_both_families(cluster: SmallCluster, family: int) -> None:
    port = cluster.kubectl.get("service", "web")["spec"]["ports"][0]["nodePort"]
    for number, name in enumerate(NAMES, 1):
        address = cluster.lan.address(number, family)
        host = f"[{address}]" if family == 6 else address
        url = ("busybox", "wget", "-qO-")
        assert {cluster.server.run(*url, f"http://{host}:{port}/").strip() for _ in range(20)} == set(NAMES)
        assert cluster.server.run(*url, f"http://{host}:{HOST_PORT}/").strip() == name
