"""The scheduler and nodes work with the rights that Kubernetes gives them, and with no others."""

import datetime
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sampan.server.pki.certificates import make_client, read_key_pair
from sampan.server.pki.kubeconfig import kubeconfig
from tests.cli.server import Server, running

WITHIN_S = 40.0
POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "solo"},
    "spec": {"containers": [{"name": "main", "image": "x"}], "automountServiceAccountToken": False},
}


@contextmanager
def loops(server: Server, user: str, groups: Sequence[str], *arguments: str) -> Iterator[Path]:
    """A loop as a process, as a user with a certificate of the cluster's CA. Gives its log."""
    pki = server.data / "pki"
    ca = read_key_pair((pki / "ca.crt").read_bytes(), (pki / "ca.key").read_bytes())
    pair = make_client(ca, user, groups, datetime.datetime.now(datetime.UTC))
    config, log = server.data / f"{arguments[0]}.kubeconfig", server.data / f"{arguments[0]}.log"
    config.write_bytes(kubeconfig(f"https://127.0.0.1:{server.port}", ca.certificate_pem(), pair, user="loop"))
    command = [sys.executable, "-m", "sampan.cli", *arguments, "--kubeconfig", str(config)]
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(20)


def phase(server: Server) -> Any:
    """Return the phase of the Pod."""
    status = server.status("/api/v1/namespaces/default/pods/solo", server.token).get("status")
    return status.get("phase") if isinstance(status, dict) else None


def test_a_pod_runs_on_a_node_and_by_a_scheduler_with_their_own_roles(tmp_path: Path) -> None:
    options = ("--storage", "memory", "--no-scheduler", "--nodes=0", "--controllers=*", "--allocate-node-cidrs")
    with running(tmp_path / "data", *options, loops=True) as server:
        node = ("node", "--simulated", "1", "--node-name", "worker")
        with (
            loops(server, "system:node:worker", ["system:nodes"], *node) as node_log,
            loops(server, "system:kube-scheduler", [], "scheduler") as scheduler_log,
        ):
            until = time.monotonic() + WITHIN_S
            created = False
            while time.monotonic() < until and phase(server) != "Running":
                created = created or create(server)
                time.sleep(0.1)
            assert phase(server) == "Running", node_log.read_text() + scheduler_log.read_text()
        for log in (node_log, scheduler_log):
            assert "forbidden" not in log.read_text()


def create(server: Server) -> bool:
    """Create the Pod; False while there is no service account for it."""
    connection = server.connect(**server.admin)
    try:
        connection.request(
            "POST", "/api/v1/namespaces/default/pods", json.dumps(POD), {"Content-Type": "application/json"}
        )
        return connection.getresponse().status == 201
    finally:
        connection.close()
