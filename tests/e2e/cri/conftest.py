"""One machine with a server and a node for all tests of a module."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cri.machine import Machine, machine, missing, wait_for
from tests.e2e.kubectl import Kubectl


@dataclass
class Cluster:
    """Server and node on a machine."""

    machine: Machine
    kubectl: Kubectl
    sampan: "subprocess.Popen[str]"

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition holds."""
        wait_for(condition, what)

    def pod(self, name: str) -> dict[str, Any]:
        """Return a Pod."""
        return self.kubectl.get("pod", name)

    def container(self, name: str) -> dict[str, Any]:
        """Return the status of a Pod's only container; empty before it has one."""
        statuses = self.pod(name)["status"].get("containerStatuses", [{}])
        found: dict[str, Any] = statuses[0]
        return found

    def ready(self, *names: str) -> None:
        """Wait until Pods are ready."""
        self.kubectl("wait", "--for=condition=Ready", *(f"pod/{name}" for name in names), "--timeout=30s")

    def agent_pids(self) -> list[str]:
        """Return the processes of the node agent, as the machine numbers them."""
        found = []
        for name in self.machine.run("ls", "/proc").split():
            if name.isdecimal():
                words = self.machine.output("cat", f"/proc/{name}/cmdline").split("\0")
                found += [name] if words[1:4] == ["-m", "sampan.cli", "loops"] else []
        return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run a cluster; at the end nothing of its Pods may be left."""
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    root = tmp_path_factory.mktemp("machine")
    with machine(root) as found:
        sampan = found.up(root / "data")
        try:
            home = _directory(root / "home")
            environment = {"KUBECONFIG": str(root / "data" / "kubeconfig"), "HOME": str(home), "PATH": "/usr/bin:/bin"}
            kubectl = Kubectl(found.program("kubectl"), environment, "default")
            wait_for(lambda: " Ready " in kubectl.run("get", "nodes").stdout, "the node")
            wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
            yield Cluster(found, kubectl, sampan)
            kubectl("delete", "pods,jobs", "--all", "--timeout=60s")
            wait_for(lambda: not found.left(), "the removal of all traces of Pods", 15)
        finally:
            sampan.kill()
            sampan.wait()
            if sampan.stdout is not None:
                sampan.stdout.close()


def _directory(path: Path) -> Path:
    path.mkdir()
    return path
