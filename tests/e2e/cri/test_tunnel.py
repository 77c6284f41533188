"""A server that is no node, a node in its network, and a node behind a NAT, to which the server cannot connect.

server 172.30.0.1 --- near 172.30.0.2
                  \\-- router 172.30.0.3 / 10.77.0.1 (NAT) --- far 10.77.0.2
"""

import base64
import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sampan.server.pki.certificates import KeyPair, make_ca, make_serving
from tests.e2e.cri import image, nat, pod_server, python_image
from tests.e2e.cri.processes import join, join_command, kubectl_on, up
from tests.e2e.kubectl import Kubectl
from tests.machines import Containerd, Machine, lan, machine, missing, wait_for

pytestmark = pytest.mark.e2e
NAMES = ("near", "far")
PORT = 8443
WAIT_S = 120


@dataclass
class Cluster:
    """Server with two nodes, each of which runs a server in a Pod."""

    server: Machine
    nodes: dict[str, Machine]
    join: list[str]
    """Command with which machines join."""
    ca: KeyPair
    kubectl: Kubectl

    def ready(self) -> bool:
        """Return True if both nodes are ready."""
        listed = self.kubectl.run("get", "nodes", "--no-headers").stdout.splitlines()
        return sum(line.split()[1] == "Ready" for line in listed) == len(self.nodes)

    @property
    def ca_bundle(self) -> str:
        """CA of the servers in Pods, as objects have it."""
        return base64.b64encode(self.ca.certificate_pem()).decode()

    def metric(self, name: str) -> float:
        """Return the value of a metric of the server."""
        lines = self.kubectl("get", "--raw", "/metrics").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def manifest(name: str, node: str) -> dict[str, Any]:
    """Return a Pod with the server."""
    mounts = [{"name": "tls", "mountPath": "/tls"}, {"name": "program", "mountPath": "/program"}]
    container = {
        "name": "main",
        "image": python_image.NAME,
        "command": ["python3", "-u", "/program/pod_server.py", str(PORT), name],
        "volumeMounts": mounts,
        "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
    }
    volumes = [{"name": "tls", "secret": {"secretName": "tls"}}, {"name": "program", "configMap": {"name": "program"}}]
    spec = {"nodeName": node, "containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 1}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": spec,
    }


def deploy(kubectl: Kubectl, ca: KeyPair, root: Path) -> None:
    """Run the server in a Pod of each node, with a Service."""
    pair = make_serving(ca, tuple(f"{name}.default.svc" for name in NAMES), dt.datetime.now(dt.UTC))
    for name, content in (("tls.crt", pair.certificate_pem()), ("tls.key", pair.key_pem())):
        (root / name).write_bytes(content)
    kubectl("create", "secret", "tls", "tls", f"--cert={root / 'tls.crt'}", f"--key={root / 'tls.key'}")
    kubectl("create", "configmap", "program", f"--from-file={pod_server.__file__}")
    for name in NAMES:
        kubectl.apply(json.dumps(manifest(name, name)))
        kubectl("expose", "pod", name, "--port=443", f"--target-port={PORT}")
    pods = [f"pod/{name}" for name in NAMES]
    kubectl("wait", "--for=condition=Ready", *pods, f"--timeout={WAIT_S}s")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run the cluster; at the end nothing of its Pods may be left."""
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    root = tmp_path_factory.mktemp("tunnel")
    image.build(root / "images.tar")
    python_image.build(root / "python.tar")
    with lan(root, ["server", "near", "router"]) as network, machine(root / "far", "far") as far:
        server, near, router = network.machines
        nat.behind_nat(router, far)
        data = root / "data"
        authority = ("--kubelet-certificate-authority", str(data / "pki" / "ca.crt"))
        up(server, network.address(0), "--nodes", "0", "--allocate-node-cidrs=true", *authority, data=data)
        kubectl = kubectl_on(server, data / "kubeconfig")
        ca = make_ca("pods", dt.datetime.now(dt.UTC))
        found = Cluster(server, {"near": near, "far": far}, join_command(server, data), ca, kubectl)
        for each in found.nodes.values():
            containerd = Containerd(each, image.PAUSE)
            containerd.start()
            containerd.load(root / "images.tar")
            containerd.load(root / "python.tar")
            join(each, found.join)
        wait_for(found.ready, "the nodes", WAIT_S, state=kubectl.node_conditions)
        wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        wait_for(lambda: found.metric("sampan_node_tunnels") == len(NAMES), "the tunnels", WAIT_S)
        deploy(kubectl, ca, root)
        yield found
        kubectl("delete", "pods", "--all", "--timeout=60s")
        nodes = found.nodes.values()
        wait_for(lambda: not [each.left() for each in nodes if each.left()], "the removal of all traces", 30)


def address(cluster: Cluster, name: str) -> str:
    return str(cluster.kubectl.get("pod", name)["status"]["podIP"])


@pytest.mark.parametrize("name", NAMES)
def test_the_servers_machine_reaches_no_pod_itself(cluster: Cluster, name: str) -> None:
    probe = ["busybox", "nc", "-z", "-w", "2", address(cluster, name), str(PORT)]
    assert subprocess.run([*cluster.server.enter, *probe], check=False, capture_output=True).returncode != 0


def test_the_servers_machine_does_not_reach_a_node_behind_a_nat(cluster: Cluster) -> None:
    probe = ["busybox", "nc", "-z", "-w", "2", nat.ADDRESS, "10250"]
    assert subprocess.run([*cluster.server.enter, *probe], check=False, capture_output=True).returncode != 0


@pytest.mark.parametrize("name", NAMES)
def test_a_pod_and_its_service_are_reached_through_their_proxies(cluster: Cluster, name: str) -> None:
    for path in (f"pods/https:{name}:{PORT}", f"services/https:{name}:443"):
        found = cluster.kubectl("get", "--raw", f"/api/v1/namespaces/default/{path}/proxy/hello")
        assert json.loads(found) == {"path": "/hello"}


@pytest.mark.parametrize("name", NAMES)
def test_logs_exec_and_the_nodes_own_server_work(cluster: Cluster, name: str) -> None:
    assert cluster.kubectl("logs", name).splitlines()[0] == "serving"
    assert cluster.kubectl("exec", "-i", name, "--", "wc", "-c", stdin="x" * 300_000) == "300000"
    assert cluster.kubectl("get", "--raw", f"/api/v1/nodes/{name}/proxy/healthz") == "ok"


@pytest.mark.parametrize("name", NAMES)
def test_a_port_is_forwarded(cluster: Cluster, name: str) -> None:
    command = [cluster.kubectl.program, "port-forward", name, f"18080:{PORT}"]
    forward = subprocess.Popen(
        command,
        env=dict(cluster.kubectl.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert forward.stdout is not None
        assert forward.stdout.readline().startswith("Forwarding from")
        url = "https://127.0.0.1:18080/forwarded"
        program = "import ssl, sys, urllib.request as r; c = ssl._create_unverified_context()"
        program += "; print(r.urlopen(sys.argv[1], context=c).read().decode())"
        found = cluster.server.run(sys.executable, "-c", program, url)
        assert json.loads(found) == {"path": "/forwarded"}
    finally:
        os.killpg(forward.pid, signal.SIGKILL)  # kubectl is a child of the program that enters the machine.
        forward.communicate()


@pytest.mark.parametrize("name", NAMES)
def test_an_admission_webhook_in_a_pod_is_called(cluster: Cluster, name: str) -> None:
    webhook = {
        "name": f"{name}.pods.test",
        "clientConfig": {
            "service": {"namespace": "default", "name": name, "path": "/mutate"},
            "caBundle": cluster.ca_bundle,
        },
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}
    cluster.kubectl.apply(json.dumps({**kind, "metadata": {"name": name}, "webhooks": [webhook]}))
    try:
        for number in range(3):
            cluster.kubectl("create", "configmap", f"{name}-{number}")
            labels = cluster.kubectl.get("configmap", f"{name}-{number}")["metadata"]["labels"]
            assert labels == {"hook": name}
    finally:
        cluster.kubectl("delete", "mutatingwebhookconfiguration", name)


@pytest.mark.parametrize("name", NAMES)
def test_a_conversion_webhook_in_a_pod_is_called(cluster: Cluster, name: str) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": version, "served": True, "storage": version == "v1", "schema": schema} for version in ("v1", "v2")
    ]
    client = {"service": {"namespace": "default", "name": name, "path": "/convert"}, "caBundle": cluster.ca_bundle}
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}
    group = f"{name}.test"
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"plural": "boats", "singular": "boat", "kind": "Boat"},
        "versions": versions,
        "conversion": conversion,
    }
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    cluster.kubectl.apply(json.dumps({**crd, "metadata": {"name": f"boats.{group}"}, "spec": spec}))
    cluster.kubectl("wait", "--for=condition=Established", f"crd/boats.{group}", "--timeout=60s")
    cluster.kubectl.apply(json.dumps({"apiVersion": f"{group}/v1", "kind": "Boat", "metadata": {"name": "one"}}))
    assert cluster.kubectl.get(f"boats.v2.{group}", "one")["apiVersion"] == f"{group}/v2"


@pytest.mark.parametrize("name", NAMES)
def test_an_aggregated_api_in_a_pod_is_served(cluster: Cluster, name: str) -> None:
    spec = {
        "group": "pods.test",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"namespace": "default", "name": name},
        "caBundle": cluster.ca_bundle,
    }
    kind = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    cluster.kubectl.apply(json.dumps({**kind, "metadata": {"name": "v1.pods.test"}, "spec": spec}))
    try:
        cluster.kubectl("wait", "--for=condition=Available", "apiservice/v1.pods.test", "--timeout=60s")
        assert [each["metadata"]["name"] for each in cluster.kubectl.get("things")["items"]] == [name]
    finally:
        cluster.kubectl("delete", "apiservice", "v1.pods.test")


def test_a_tunnel_comes_back_after_its_agent_was_killed(cluster: Cluster) -> None:
    far = cluster.nodes["far"]
    before = cluster.kubectl.get("pod", "far")["status"]["containerStatuses"][0]["containerID"]
    for pid in far.pids("-m", "sampan.cli", "join"):
        far.run("kill", "-9", pid)
    wait_for(lambda: cluster.metric("sampan_node_tunnels") == 1, "the end of the tunnel", WAIT_S)
    join(far, cluster.join)
    wait_for(lambda: cluster.metric("sampan_node_tunnels") == len(NAMES), "the tunnel", WAIT_S)
    wait_for(lambda: cluster.kubectl.run("logs", "far").stdout.startswith("serving"), "the log", WAIT_S)
    assert cluster.kubectl.get("pod", "far")["status"]["containerStatuses"][0]["containerID"] == before


def test_a_cut_network_ends_the_tunnel_and_it_comes_back(cluster: Cluster) -> None:
    far = cluster.nodes["far"]
    far.run("nft", "table ip cut { chain in { type filter hook input priority 0; iifname eth0 drop; }; }")
    try:
        wait_for(lambda: cluster.metric("sampan_node_tunnels") == 1, "the end of the tunnel", WAIT_S)
    finally:
        far.run("nft", "delete table ip cut")
    wait_for(lambda: cluster.metric("sampan_node_tunnels") == len(NAMES), "the tunnel", WAIT_S)
    wait_for(lambda: cluster.kubectl.run("logs", "far").stdout.startswith("serving"), "the log", WAIT_S)
