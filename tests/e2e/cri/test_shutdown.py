"""Graceful shutdown of a node with containerd that runs in its own process."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cri.machine import Machine, machine, missing, wait_for
from tests.e2e.cri.test_pods import manifest
from tests.e2e.kubectl import Kubectl

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
    with machine(tmp_path) as found:
        data = tmp_path / "data"
        sampan = found.up(data, "--nodes", "0")
        try:
            environment = {"KUBECONFIG": str(data / "kubeconfig"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
            kubectl = Kubectl(found.program("kubectl"), environment, "default")
            wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
            yield Server(found, kubectl, data)
        finally:
            sampan.kill()
            sampan.wait()
            if sampan.stdout is not None:
                sampan.stdout.close()


def agent_pid(found: Machine) -> str:
    """Return the process of the node, as the machine numbers it."""
    for name in found.run("ls", "/proc").split():
        if name.isdecimal() and found.output("cat", f"/proc/{name}/cmdline").split("\0")[1:4] == [
            "-m",
            "sampan.cli",
            "node",
        ]:
            return name
    raise LookupError("the node does not run")


def stopped(server: Server, *options: str) -> None:
    """Start the node, wait until its Pod is ready, and end it with SIGTERM."""
    log = server.machine.root / "node.log"
    log.unlink(missing_ok=True)
    node = server.machine.node(server.data, *options)
    wait_for(lambda: "registered nodes" in log.read_text() and "runtime is ready" in log.read_text(), "the node")
    if not server.kubectl.names("pods"):
        server.kubectl.apply(manifest("web", LISTENS))
    server.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=30s")
    server.machine.run("kill", "-TERM", agent_pid(server.machine))
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
