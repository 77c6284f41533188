"""NetworkPolicies on two nodes that have joined, in both IP families: containers, agents that end, Pods that start."""

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
PORT = 8080
WAIT_S = 60
Json = dict[str, Any]


def manifest(kind: str, name: str, spec: Json, labels: dict[str, str] | None = None) -> str:
    """Return an object as JSON."""
    version = "networking.k8s.io/v1" if kind == "NetworkPolicy" else "v1"
    metadata = {"name": name, "labels": labels or {}}
    return json.dumps({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})


def pod(name: str, node: str, command: str, *, host: bool = False, **spec: Any) -> str:
    """Return a Pod on a node that runs a command."""
    container = {"name": "main", "image": APP, "command": ["sh", "-c", command]}
    more = {"nodeName": node, "hostNetwork": host, "terminationGracePeriodSeconds": 1, "containers": [container]}
    return manifest("Pod", name, {**more, **spec}, {"app": name})


def web(node: str) -> str:
    """Return a Pod that serves its name in both families."""
    return pod(f"web-{node}", node, f"mkdir /w; echo web > /w/index.html; exec httpd -f -p [::]:{PORT} -h /w")


class Nodes:
    """A cluster with a web server and a client on each node."""

    def __init__(self, cluster: SmallCluster) -> None:
        self.cluster, self.kubectl = cluster, cluster.kubectl

    def addresses(self, name: str) -> list[str]:
        """Return the addresses of a Pod."""
        return [each["ip"] for each in self.kubectl.get("pod", name)["status"]["podIPs"]]

    def reaches(self, client: str, address: str) -> bool:
        """Return True if a Pod gets the page."""
        host = f"[{address}]" if ":" in address else address
        done = self.kubectl.run("exec", client, "--", "timeout", "2", "wget", "-qO-", f"http://{host}:{PORT}/")
        return done.stdout.strip() == "web"

    def until(self, client: str, server: str, *, reached: bool) -> None:
        """Wait until a Pod reaches another one, or no longer does, in both families."""
        for address in self.addresses(server):
            text = f"{client} to {address}: {reached}"
            state = lambda: "".join(f"\n{name}: {self.rules(name)}" for name in NAMES)  # noqa: E731
            wait_for(lambda: self.reaches(client, address) == reached, text, WAIT_S, state=state)  # noqa: B023

    def policy(self, name: str, **spec: Any) -> None:
        """Create a policy for all Pods, or those of `podSelector`."""
        self.kubectl.apply(manifest("NetworkPolicy", name, {"podSelector": {}, **spec}))

    def rules(self, node: str) -> str:
        """Return the table of a node."""
        return self.cluster.machine(node).output("nft", "-s", "list", "table", "inet", "sampan-netpol")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    with small_cluster(tmp_path_factory.mktemp("nodes"), NAMES, dual_stack=True) as cluster:
        kubectl = cluster.kubectl
        wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        for name in NAMES:
            kubectl.apply(web(name))
            kubectl.apply(pod(f"client-{name}", name, "trap 'exit 0' TERM; sleep 1000000 & wait"))
        kubectl("wait", "--for=condition=Ready", "pod", "--all", "--timeout=60s")
        yield Nodes(cluster)
        kubectl("delete", "pods", "--all", "--timeout=50s")


@pytest.fixture
def nodes(started: Nodes) -> Iterator[Nodes]:
    yield started
    started.kubectl("delete", "networkpolicies", "--all")
    for client in ("client-one", "client-two"):
        started.until(client, "web-one", reached=True)


def test_pods_of_one_node_and_of_two_are_isolated(nodes: Nodes) -> None:
    nodes.policy("deny", policyTypes=["Ingress"])
    for client in ("client-one", "client-two"):
        nodes.until(client, "web-one", reached=False)
    peers = [{"podSelector": {"matchLabels": {"app": "client-two"}}}]
    selector = {"matchLabels": {"app": "web-one"}}
    nodes.policy("allow", podSelector=selector, ingress=[{"from": peers, "ports": [{"port": PORT}]}])
    nodes.until("client-two", "web-one", reached=True)
    nodes.until("client-one", "web-one", reached=False)


def test_pods_cannot_reach_other_nodes_but_their_own(nodes: Nodes) -> None:
    command = f"mkdir /w; echo web > /w/index.html; httpd -f -p {PORT} -h /w"
    nodes.kubectl.apply(pod("host-one", "one", command, host=True))
    nodes.kubectl("wait", "--for=condition=Ready", "pod/host-one", "--timeout=60s")
    address = nodes.cluster.address("one")
    nodes.policy("deny", policyTypes=["Egress"])
    wait_for(lambda: not nodes.reaches("client-two", address), "no connection to the other node", WAIT_S)
    wait_for(lambda: nodes.reaches("client-one", address), "a connection to the own node", WAIT_S)
    # A Pod on the network of a node is no peer for selectors; its address is one for blocks.
    nodes.policy("selected", egress=[{"to": [{"podSelector": {}}]}], policyTypes=["Egress"])
    nodes.until("client-two", "web-two", reached=True)
    assert not nodes.reaches("client-two", address)
    nodes.policy("block", egress=[{"to": [{"ipBlock": {"cidr": f"{address}/32"}}]}], policyTypes=["Egress"])
    wait_for(lambda: nodes.reaches("client-two", address), "a connection to the block", WAIT_S)
    nodes.kubectl("delete", "pod", "host-one", "--wait=true")


def test_probes_of_the_node_reach_an_isolated_pod(nodes: Nodes) -> None:
    nodes.policy("deny", policyTypes=["Ingress", "Egress"])
    nodes.until("client-one", "web-one", reached=False)
    probe = {"httpGet": {"path": "/", "port": PORT}, "periodSeconds": 1}
    command = f"mkdir /w; echo web > /w/index.html; exec httpd -f -p {PORT} -h /w"
    container = {"name": "main", "image": APP, "command": ["sh", "-c", command], "readinessProbe": probe}
    nodes.kubectl.apply(pod("probed", "one", "", containers=[container]))
    nodes.kubectl("wait", "--for=condition=Ready", "pod/probed", "--timeout=60s")
    nodes.kubectl("delete", "pod", "probed", "--wait=true")


def test_a_new_pod_reaches_nothing_in_its_first_moment(nodes: Nodes) -> None:
    [address, _] = nodes.addresses("web-one")
    new = {"matchExpressions": [{"key": "new", "operator": "Exists"}]}
    nodes.policy("deny", policyTypes=["Egress"], podSelector=new)
    nodes.kubectl("label", "pod", "client-one", "new=yes")
    wait_for(lambda: "default/deny" in nodes.rules("one"), "the policy on the node", WAIT_S)
    nodes.kubectl("label", "pod", "client-one", "new-")
    attempt = f"timeout 1 wget -qO- http://{address}:{PORT}/ && echo reached; echo tried"
    for number in range(6):
        made = json.loads(pod(f"new-{number}", "one", attempt, restartPolicy="Never"))
        made["metadata"]["labels"]["new"] = "yes"
        nodes.kubectl.apply(json.dumps(made))
    names = [f"new-{number}" for number in range(6)]
    ended = "--for=jsonpath={.status.phase}=Succeeded"
    nodes.kubectl("wait", ended, "pod", "-l", "new=yes", "--timeout=60s")
    for name in names:
        log = nodes.kubectl("logs", name).split()
        assert "tried" in log
        assert "reached" not in log
    nodes.kubectl("delete", "pods", "-l", "new=yes", "--wait=true")


def test_rules_hold_while_the_agent_is_dead_and_are_current_after_its_start(nodes: Nodes) -> None:
    nodes.policy("deny", policyTypes=["Ingress"])
    nodes.until("client-one", "web-one", reached=False)
    nodes.cluster.kill_agent("one")
    before = nodes.rules("one")
    nodes.policy("allow", ingress=[{}], policyTypes=["Ingress"])
    assert not [each for each in nodes.addresses("web-one") if nodes.reaches("client-two", each)]
    assert nodes.rules("one") == before
    nodes.cluster.start_agent("one")
    nodes.until("client-two", "web-one", reached=True)


def test_a_pod_that_is_deleted_by_force_stays_isolated_until_it_has_ended(nodes: Nodes) -> None:
    nodes.policy("deny", policyTypes=["Ingress"])
    command = f"trap '' TERM; mkdir /w; echo web > /w/index.html; httpd -f -p {PORT} -h /w & wait; sleep 1000000"
    nodes.kubectl.apply(pod("slow", "one", command, terminationGracePeriodSeconds=20))
    nodes.kubectl("wait", "--for=condition=Ready", "pod/slow", "--timeout=60s")
    [address, _] = nodes.addresses("slow")
    nodes.until("client-one", "slow", reached=False)
    nodes.kubectl("delete", "pod", "slow", "--force", "--grace-period=0")
    while address in nodes.rules("one"):
        assert not nodes.reaches("client-one", address)
    assert not nodes.reaches("client-one", address)


def test_a_policy_creates_no_warning_where_nodes_enforce_it(nodes: Nodes) -> None:
    done = nodes.kubectl.run("apply", "-f", "-", stdin=manifest("NetworkPolicy", "any", {"podSelector": {}}))
    assert (done.returncode, done.stderr) == (0, "")
