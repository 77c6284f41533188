"""Server without nodes on a machine with containerd, and a node in its own process."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.cri.processes import SAMPAN
from tests.e2e.kubectl import Kubectl
from tests.machines import Containerd, Machine


@dataclass
class Server:
    """Server without nodes, on a machine with containerd."""

    machine: Machine
    containerd: Containerd
    kubectl: Kubectl
    data: Path

    def status(self, name: str) -> dict[str, Any]:
        """Return the status of a Pod."""
        found: dict[str, Any] = self.kubectl.get("pod", name)["status"]
        return found


def start_node(server: Server, *options: str) -> "subprocess.Popen[bytes]":
    """Start a node in its own process."""
    kubeconfig = f"--kubeconfig={server.data / 'kubeconfig'}"
    command = [*SAMPAN, "node", "--runtime", "cri", "--node-name", "node-1", kubeconfig]
    command += ["--root", "/var/lib/sampan", "--address", "172.30.0.1", "--cgroup-root", f"/{server.machine.cgroup}"]
    return server.machine.start(*command, *options, log="node.log")
