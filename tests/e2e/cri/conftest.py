"""One machine with a server and a node for all tests of a module."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cri import image
from tests.e2e.cri.lone_node import Server
from tests.e2e.cri.processes import kubectl_on, up, up_with_node
from tests.e2e.kubectl import Kubectl
from tests.machines import Containerd, Machine, lan, missing, wait_for


@dataclass
class Cluster:
    """Server and node on a machine."""

    machine: Machine
    containerd: Containerd
    kubectl: Kubectl

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition holds."""
        wait_for(condition, what, state=self.kubectl.node_conditions)

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
        """Return the processes of the node agent, as the machine numbers them. Network loops have no node."""
        return self.machine.pids("--nodes=1")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run a cluster; at the end nothing of its Pods may be left."""
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    root = tmp_path_factory.mktemp("machine")
    image.build(root / "images.tar")
    with lan(root, ["machine"]) as network:
        [found] = network.machines
        containerd = Containerd(found, image.PAUSE)
        containerd.start()
        containerd.load(root / "images.tar")
        up_with_node(found, data=root / "data")
        kubectl = kubectl_on(found, root / "data" / "kubeconfig")
        wait_for(lambda: " Ready " in kubectl.run("get", "nodes").stdout, "the node")
        wait_for(lambda: kubectl.run("get", "sa", "default").returncode == 0, "the service account")
        yield Cluster(found, containerd, kubectl)
        kubectl("delete", "pods,jobs", "--all", "--timeout=60s")
        wait_for(lambda: not found.left(), "the removal of all traces of Pods", 15)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Run a server without nodes on a machine with containerd."""
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
        yield Server(found, containerd, kubectl, data)
