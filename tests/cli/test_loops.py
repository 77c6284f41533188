"""Control loops as processes: beside a server, and by themselves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.cli.server import Server, running

WAIT_S = 30.0
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "app:1"}]},
        },
    },
}


def until(holds: Callable[[], Any]) -> Any:
    """Wait until a function returns a true value, and return it."""
    deadline = time.monotonic() + WAIT_S
    while not (found := holds()):
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.05)
    return found


def create(server: Server, path: str, obj: Any) -> None:
    """Create an object."""
    connection = server.connect()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.token}"}
    connection.request("POST", path, json.dumps(obj), headers)
    assert connection.getresponse().status == 201
    connection.close()


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    """Return True if a process runs. A zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextmanager
def process(server: Server, log: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A `sampan` command until the end of the block; killed there if it still runs."""
    command = [sys.executable, "-m", "sampan.cli", *arguments, f"--kubeconfig={server.data / 'kubeconfig'}"]
    with log.open("a") as stderr:
        started = subprocess.Popen(command, stderr=stderr, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def test_controllers_scheduler_and_node_are_separate_processes(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage", "memory") as server, ExitStack() as everything:
        commands = (("controllers",), ("scheduler",), ("node", "--simulated=1", "--node-name=alone"))
        processes = [
            everything.enter_context(process(server, tmp_path / f"{arguments[0]}.log", *arguments))
            for arguments in commands
        ]
        create(server, "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT)
        path = "/apis/apps/v1/namespaces/default/deployments/web"
        until(lambda: server.status(path, server.token).get("status", {}).get("readyReplicas") == 2)
        for lease in ("kube-controller-manager", "kube-scheduler"):
            found = server.status(f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{lease}", server.token)
            assert found["spec"]["holderIdentity"]
        pods = server.status("/api/v1/namespaces/default/pods", server.token)["items"]
        assert {pod["spec"]["nodeName"] for pod in pods} == {"alone"}
        for started in processes:
            started.send_signal(signal.SIGTERM)
        assert [started.wait(WAIT_S) for started in processes] == [0, 0, 0]


def test_probes_are_served_at_the_logged_address(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage", "memory") as server:
        log = tmp_path / "node.log"
        options = ("--simulated=3", "--probe-address=127.0.0.1:0", "--log-format=json")
        with process(server, log, "node", *options):

            def port() -> str:
                lines = [json.loads(line)["msg"] for line in log.read_text().splitlines() if line.endswith("}")]
                return next((each.rpartition(":")[2] for each in lines if each.startswith("listening at")), "")

            address = f"http://127.0.0.1:{until(port)}"
            assert urlopen(f"{address}/healthz", timeout=WAIT_S).read() == b"ok"
            assert b"workqueue_depth" in urlopen(f"{address}/metrics", timeout=WAIT_S).read()
            until(lambda: len(server.status("/api/v1/nodes", server.token)["items"]) == 3)
        nodes = server.status("/api/v1/nodes", server.token)["items"]
        assert [node["metadata"]["name"] for node in nodes] == ["node-1", "node-2", "node-3"]


def test_the_loops_end_when_their_server_is_killed(tmp_path: Path) -> None:
    with running(tmp_path / "d", "--storage", "memory", "--controllers=", loops=True) as server:
        (child,) = until(lambda: children(server.process.pid))
        until(lambda: server.status("/api/v1/nodes", server.token)["items"])
        os.kill(server.process.pid, signal.SIGKILL)
        until(lambda: not is_alive(child))


def test_the_loops_end_with_their_server(tmp_path: Path) -> None:
    options = ("--storage", "memory", "--controllers=", "--no-scheduler")
    with running(tmp_path / "d", *options, loops=True) as server:
        (child,) = until(lambda: children(server.process.pid))
        until(lambda: server.status("/api/v1/nodes", server.token)["items"])
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(WAIT_S) == 0
        assert not is_alive(child)
        assert "Traceback" not in (tmp_path / "d.log").read_text()


def test_a_server_does_not_start_with_an_unknown_controller(tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "sampan.cli", "up", "--data", str(tmp_path / "d"), "--controllers=nonsense"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("sampan: error: --controllers: 'nonsense' is no controller: known controllers are ")
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("controllers", "--controllers=nonsense"), "'nonsense' is no controller: known controllers are "),
        (("controllers", "--probe-address=8080"), "'8080' is not host:port"),
        (("controllers", "--cluster-signing-cert-file=ca.crt"), "belong together"),
        (("controllers", "--cluster-cidr=10.0.0.0/25"), "--cluster-cidr: 10.0.0.0/25 has no parts of the size /24"),
        (("scheduler", "--kubeconfig=/nonexistent"), "/nonexistent: file does not exist"),
        (("node", "--runtime=vm"), "Invalid value for '--runtime'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_faults_are_reported_in_one_line(arguments: tuple[str, ...], output: str) -> None:
    command = [sys.executable, "-m", "sampan.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == (1 if "kubeconfig" in arguments[1] else 2)
    assert done.stderr.startswith("sampan: error: ")
    assert output in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_account_of_the_first_pods_is_there_before_the_loops_are(tmp_path: Path) -> None:
    options = ("--storage", "memory", "--controllers=serviceaccount-controller")
    with running(tmp_path / "d", *options) as server:
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        assert server.status(path, server.token)["kind"] == "ServiceAccount"
