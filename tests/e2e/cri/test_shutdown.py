"""Graceful shutdown of a node with containerd that runs in its own process."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cri import image
from tests.e2e.cri.processes import SAMPAN, kubectl_on, up
from tests.e2e.cri.test_pods import manifest
from tests.e2e.kubectl import Kubectl
from tests.machines import Containerd, Machine, lan, missing, wait_for

pytestmark = pytest.mark.e2e
LISTENS = "trap 'echo stopping; exit 0' TERM; echo started; while true; do sleep 0.1; done"


@dataclass
class Server:
    """Server without nodes, on a machine with containerd."""

    machine: Machine
    kubectl: Kubectl
    data: Path

    def status(self, name: str) -> dict[str, Any]:
        """Return the status of a Pod."""
        found: dict[str, Any] = self.kubectl.get("pod", name)["status"]
        return found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    image.build(tmp_path / "images.tar")
    with lan(tmp_path, ["machine"]) as network:
        [found] = network.machines
        containerd = Containerd(found, image.PAUSE)
        containerd.start()
        containerd.load(tmp_path / "images.tar")
        data = tmp_path / "data"
        up(found, network.address(0), "--nodes", "0", data=data)
        kubectl = kubectl_on(found, data / "kubeconfig")
        wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        yield Server(found, kubectl, data)


def start_node(server: Server, *options: str) -> "subprocess.Popen[bytes]":
    """Start a node in its own process."""
    kubeconfig = f"--kubeconfig={server.data / 'kubeconfig'}"
    command = [*SAMPAN, "node", "--runtime", "cri", "--node-name", "node-1", kubeconfig]
    command += ["--root", "/var/lib/sampan", "--address", "172.30.0.1", "--cgroup-root", f"/{server.machine.cgroup}"]
    return server.machine.start(*command, *options, log="node.log")


def stopped(server: Server, *options: str) -> None:
    """Start the node, wait until its Pod is ready, and end it with SIGTERM."""
    log = server.machine.root / "node.log"
    log.unlink(missing_ok=True)
    node = start_node(server, *options)
    wait_for(lambda: "registered nodes" in log.read_text() and "runtime is ready" in log.read_text(), "the node")
    if not server.kubectl.names("pods"):
        server.kubectl.apply(manifest("web", LISTENS))
    server.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=30s")
    [pid] = server.machine.pids("-m", "sampan.cli", "node")
    server.machine.run("kill", "-TERM", pid)
    assert node.wait(30) == 0, log.read_text()


def test_signal_ends_pods_only_if_there_is_a_grace_period(server: Server) -> None:
    stopped(server)
    assert server.status("web")["phase"] == "Running"
    stopped(server, "--shutdown-grace-period", "10s")
    status = server.status("web")
    message = "Pod was terminated in response to imminent node shutdown."
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Terminated", message)
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    (node,) = server.kubectl.get("nodes")["items"]
    (ready,) = (each for each in node["status"]["conditions"] if each["type"] == "Ready")
    assert (ready["status"], ready["message"]) == ("False", "node is shutting down")
