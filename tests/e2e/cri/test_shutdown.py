"""Graceful shutdown of a node with containerd that runs in its own process."""

import pytest

from tests.e2e.cri.lone_node import Server, start_node
from tests.e2e.cri.test_pods import manifest
from tests.machines import wait_for

pytestmark = pytest.mark.e2e
LISTENS = "trap 'echo stopping; exit 0' TERM; echo started; while true; do sleep 0.1; done"


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
