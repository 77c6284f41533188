"""A server and two nodes that have joined it, all on separate machines of one network, used with kubectl."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.cri.image import APP
from tests.e2e.cri.processes import SAMPAN
from tests.e2e.cri.small_cluster import SmallCluster, small_cluster
from tests.e2e.kubectl import Kubectl
from tests.machines import Machine, missing, wait_for

pytestmark = pytest.mark.e2e
NAMES = ("one", "two")
COMMAND = "trap 'exit 0' TERM; sleep 1000000 & wait"
"""Ends at the first signal, as a shell that is the first process of a container does not without it."""


@dataclass
class Nodes:
    """Cluster with a web server on each node and a Service for both."""

    cluster: SmallCluster
    kubectl: Kubectl

    def pod(self, name: str) -> dict[str, Any]:
        return self.kubectl.get("pod", name)

    def address(self, name: str) -> str:
        return str(self.pod(name)["status"]["podIP"])

    def container(self, name: str) -> str:
        """Return the id of a Pod's container."""
        return str(self.pod(name)["status"]["containerStatuses"][0]["containerID"])

    def fetch(self, pod: str, url: str) -> str:
        """Return what a Pod gets from a URL."""
        return self.kubectl("exec", pod, "--", "wget", "-qO-", url)

    def condition(self, node: str) -> str:
        """Return the status of a Node's condition Ready."""
        conditions = self.kubectl.get("node", node)["status"]["conditions"]
        return next(str(each["status"]) for each in conditions if each["type"] == "Ready")


def web(node: str) -> str:
    """Return a Pod on a node. It serves the name of the node, and logs its clients."""
    command = f"mkdir /w; echo {node} > /w/index.html; exec httpd -f -v -p 8080 -h /w 2>&1"
    container = {"name": "main", "image": APP, "command": ["sh", "-c", command]}
    metadata = {"name": f"web-{node}", "labels": {"app": "web"}}
    spec = {"nodeName": node, "terminationGracePeriodSeconds": 1, "containers": [container]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Run the cluster; at the end nothing of its Pods may be left."""
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    with small_cluster(tmp_path_factory.mktemp("nodes"), NAMES) as cluster:
        kubectl = cluster.kubectl
        wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        for name in NAMES:
            kubectl.apply(web(name))
        kubectl("create", "service", "nodeport", "web", "--tcp=80:8080")
        kubectl("wait", "--for=condition=Ready", "pod/web-one", "pod/web-two", "--timeout=30s")
        yield Nodes(cluster, kubectl)
        kubectl("delete", "deployments", "--all", "--cascade=foreground", "--timeout=50s")
        kubectl("delete", "pods", "--all", "--timeout=50s")
        wait_for(lambda: not [each.left() for each in cluster.nodes if each.left()], "the removal of all traces", 20)


def kernel(machine: Machine) -> list[str]:
    """Return the words with which the kernel of a node describes the network of Pods, in any order."""
    script = """
ip -4 route show proto 77; ip -4 -o address show dev sampan0 scope global; ip -o link show sampan0 up | wc -l
cat /proc/sys/net/ipv4/ip_forward; nft -s list ruleset
"""
    return sorted(machine.output("sh", "-c", script).replace(",", " ").split())


@pytest.mark.parametrize(
    "command",
    [
        "ip route flush proto 77",
        "ip link set eth0 down && sleep 1 && ip link set eth0 up && ip route add default via 172.30.0.1",
        "nft flush ruleset",
        "nft delete table inet sampan-pods",
        "nft flush chain inet sampan-pods postrouting",
        "nft delete table ip sampan-proxy",
        "nft flush chain ip sampan-proxy services",
        "nft flush map ip sampan-proxy service-ips",
        "echo 0 > /proc/sys/net/ipv4/ip_forward",
        "ip address flush dev sampan0",
        "ip link set sampan0 down",
    ],
)
def test_network_that_something_has_undone_comes_back(nodes: Nodes, command: str) -> None:
    two = nodes.cluster.machine("two")
    wait_for(lambda: nodes.fetch("web-two", f"http://{nodes.address('web-one')}:8080/") == "one", "the network", 30)
    before = kernel(two)
    two.run("sh", "-c", command)
    wait_for(lambda: kernel(two) == before, f"what was there before: {command}", 30)
    assert nodes.fetch("web-two", f"http://{nodes.address('web-one')}:8080/") == "one"
    assert nodes.fetch("web-two", f"http://{nodes.address('web-two')}:8080/") == "two"


@pytest.mark.parametrize("program", ["iptables-nft", "iptables-legacy"])
def test_pods_pass_a_firewall_that_drops_forwarded_packets(nodes: Nodes, program: str) -> None:
    two = nodes.cluster.machine("two")
    if "FORWARD ACCEPT" not in two.output(program, "-w", "-S", "FORWARD"):
        pytest.skip(f"{program} does not work on this machine")
    two.run(program, "-w", "-P", "FORWARD", "DROP")
    try:
        wait_for(lambda: "sampan-pods" in two.output(program, "-w", "-S", "FORWARD"), "rules that accept Pods", 30)
        assert nodes.fetch("web-two", f"http://{nodes.address('web-one')}:8080/") == "one"
        assert nodes.fetch("web-one", f"http://{nodes.address('web-two')}:8080/") == "two"
        two.run(program, "-w", "-F", "FORWARD")
        wait_for(lambda: "sampan-pods" in two.output(program, "-w", "-S", "FORWARD"), "the same rules again", 30)
    finally:
        two.run(program, "-w", "-P", "FORWARD", "ACCEPT")
    wait_for(lambda: "sampan-pods" not in two.output(program, "-w", "-S", "FORWARD"), "the removal of the rules", 30)
    two.output("nft", "delete", "table", "ip", "filter")  # Made by iptables-nft.


def test_node_reports_a_firewall_that_it_cannot_change(nodes: Nodes) -> None:
    def unavailable() -> str:
        conditions = nodes.kubectl.get("node", "two")["status"]["conditions"]
        return next((str(each["status"]) for each in conditions if each["type"] == "NetworkUnavailable"), "")

    two = nodes.cluster.machine("two")
    wait_for(lambda: unavailable() == "False", "an available network")
    rules = "table inet fw { chain f { type filter hook forward priority 0; policy drop; reject; }; }"
    two.run("nft", rules)
    wait_for(lambda: unavailable() == "True", "the condition", 30)
    two.run("nft", "delete table inet fw")
    wait_for(lambda: unavailable() == "False", "an available network", 30)


def test_pods_on_different_nodes_reach_each_other_without_nat(nodes: Nodes) -> None:
    assert nodes.fetch("web-one", f"http://{nodes.address('web-two')}:8080/") == "two"
    assert nodes.fetch("web-two", f"http://{nodes.address('web-one')}:8080/") == "one"
    assert nodes.address("web-one") in nodes.kubectl("logs", "web-two")
    assert nodes.address("web-two") in nodes.kubectl("logs", "web-one")


@pytest.mark.parametrize("client", ["web-one", "web-two"])
def test_a_service_is_reached_by_its_name_on_all_nodes(nodes: Nodes, client: str) -> None:
    found = {nodes.fetch(client, "http://web.default.svc.cluster.local/") for _ in range(20)}
    assert found == set(NAMES)


@pytest.mark.parametrize("node", NAMES)
def test_a_node_port_reaches_the_pods_of_all_nodes(nodes: Nodes, node: str) -> None:
    port = nodes.kubectl.get("service", "web")["spec"]["ports"][0]["nodePort"]
    url = f"http://{nodes.cluster.address(node)}:{port}/"
    found = {nodes.cluster.server.run("busybox", "wget", "-qO-", url).strip() for _ in range(20)}
    assert found == set(NAMES)


@pytest.mark.parametrize("node", NAMES)
def test_the_server_verifies_the_certificate_of_each_node(nodes: Nodes, node: str) -> None:
    assert nodes.kubectl("exec", f"web-{node}", "--", "cat", "/w/index.html") == node
    requests = nodes.kubectl.get("csr")["items"]
    signed = [each["spec"]["username"] for each in requests if each["spec"]["signerName"].endswith("kubelet-serving")]
    assert f"system:node:{node}" in signed


def routes(machine: Machine) -> list[str]:
    listed = json.loads(machine.run("ip", "-j", "route", "show", "proto", "77") or "[]")
    return [each["gateway"] for each in listed]


def test_each_node_has_a_route_to_the_pods_of_the_other(nodes: Nodes) -> None:
    one, two = nodes.cluster.nodes
    assert routes(one) == [nodes.cluster.address("two")]
    assert routes(two) == [nodes.cluster.address("one")]


def test_a_drained_node_gives_its_pods_to_the_other(nodes: Nodes) -> None:
    kubectl = nodes.kubectl
    kubectl("create", "deployment", "app", f"--image={APP}", "--replicas=2", "--", "sh", "-c", COMMAND)
    kubectl("rollout", "status", "deployment/app", "--timeout=30s")
    kubectl("drain", "two", "--force", "--ignore-daemonsets", "--pod-selector=app=app", "--timeout=50s")
    kubectl("rollout", "status", "deployment/app", "--timeout=30s")
    placed = kubectl.get("pods", "-l", "app=app")["items"]
    assert {each["spec"]["nodeName"] for each in placed if "deletionTimestamp" not in each["metadata"]} == {"one"}
    kubectl("uncordon", "two")


def test_a_killed_agent_makes_its_node_not_ready_and_its_restart_restarts_no_container(nodes: Nodes) -> None:
    [_, two] = nodes.cluster.nodes
    before = nodes.container("web-two")
    nodes.cluster.kill_agent("two")
    assert nodes.fetch("web-one", f"http://{nodes.address('web-two')}:8080/") == "two"
    wait_for(lambda: nodes.condition("two") == "Unknown", "the node's end", 70)
    nodes.cluster.start_agent("two")
    wait_for(lambda: nodes.condition("two") == "True", "the node's return")
    nodes.kubectl("wait", "--for=condition=Ready", "pod/web-two", "--timeout=30s")
    assert nodes.container("web-two") == before
    assert nodes.kubectl("exec", "web-two", "--", "cat", "/w/index.html") == "two"
    assert nodes.pod("web-two")["status"]["containerStatuses"][0]["restartCount"] == 0
    assert two.pids("httpd")


def test_a_machine_that_leaves_keeps_nothing_of_the_node(nodes: Nodes) -> None:
    [_, two] = nodes.cluster.nodes
    leave = [*SAMPAN, "leave", "--root", "/var/lib/sampan", "--cgroup-root", f"/{two.cgroup}"]
    assert (
        "an agent uses the directory"
        in subprocess.run([*two.enter, *leave], capture_output=True, text=True, timeout=60, check=False).stderr
    )
    nodes.cluster.kill_agent("two")
    assert two.run(*leave).strip() == "node removed"
    assert two.left() == []
    assert not two.pids("httpd")
    assert (routes(two), two.run("nft", "list", "tables")) == ([], "")
    assert "sampan0" not in two.run("ip", "-o", "link")
    assert list((two.root / "etc/cni/net.d").iterdir()) == []
    assert not (two.root / "var/lib/sampan").exists()
    nodes.kubectl("delete", "pod", "web-two", "--force")
    nodes.kubectl("delete", "node", "two")
    [one, _] = nodes.cluster.nodes
    wait_for(lambda: routes(one) == [], "the removal of the route")
