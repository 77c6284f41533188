"""A metrics server behind an API server that has metrics itself, and what kubectl gets from it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import PASSED_ON, Api
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

EXAMPLE = Path(__file__).parents[2] / "examples" / "02-aggregated-api"
TIMEOUT_S = 30.0


@contextmanager
def metrics_server(server: Server) -> Iterator[int]:
    """The example's server until the end of the block; gives its port."""
    command = [sys.executable, str(EXAMPLE / "metrics_server.py"), "--port", "0", "--resolution", "0.5"]
    config = ["--kubeconfig", str(server.data / "kubeconfig")]
    process = subprocess.Popen([*command, *config], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("ready https://"), line
        yield int(line.rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)


@pytest.fixture(scope="module")
def kubectl(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """kubectl at a server with one simulated node, a Pod on it, and the metrics server behind it."""
    folder = tmp_path_factory.mktemp("aggregation")
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    options = ["--storage", "memory", "--controllers=", "--resource-metrics"]
    with running(folder / "data", *options, loops=True) as server:
        environment = {**passed_on, "HOME": str(folder), "KUBECONFIG": str(server.data / "kubeconfig"), "NO_PROXY": "*"}
        kubectl = Kubectl(program, environment, "default")
        prepare(server)
        with metrics_server(server) as port:
            manifest = (EXAMPLE / "apiservice.yaml").read_text().replace("4443", str(port))
            replace(kubectl, namespace="kube-system")("apply", "-f", "-", stdin=manifest)
            kubectl("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=30s")
            yield kubectl


def prepare(server: Server) -> None:
    """Create a Pod with annotations for the use of CPU and memory."""
    api = Api(server)
    annotations = {"sampan.dev/cpu": "250m", "sampan.dev/memory": "64Mi"}
    metadata = {"name": "busy", "annotations": annotations, "labels": {"app": "busy"}}
    # No loop removes the taint of a Node that was not ready yet.
    spec = {"containers": [{"name": "c", "image": "i"}], "tolerations": [{"operator": "Exists"}]}
    api.create("/api/v1/namespaces/default/pods", {"metadata": metadata, "spec": spec})
    api.close()


def until(look: Callable[[], Any]) -> Any:
    """Call `look` until it returns something, and return that."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (found := look()):
        assert time.monotonic() < deadline, "nothing came"
        time.sleep(0.1)
    return found


def pod_metrics(kubectl: Kubectl) -> list[Any]:
    """The items of PodMetrics."""
    text = kubectl("get", "--raw", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods")
    items: list[Any] = json.loads(text)["items"]
    return items


def test_metrics_of_pods_come_from_their_kubelets(kubectl: Kubectl) -> None:
    (found,) = until(lambda: pod_metrics(kubectl))
    assert (found["kind"], found["metadata"]["labels"]) == ("PodMetrics", {"app": "busy"})
    (container,) = found["containers"]
    assert container["name"] == "c"
    assert container["usage"]["memory"] == f"{64 * 1024}Ki"
    assert 200e6 < int(container["usage"]["cpu"].removesuffix("n")) < 300e6


def test_kubectl_top_shows_them(kubectl: Kubectl) -> None:
    until(lambda: pod_metrics(kubectl))
    header, line = kubectl("top", "pods").splitlines()
    assert header.split() == ["NAME", "CPU(cores)", "MEMORY(bytes)"]
    name, cpu, memory = line.split()
    assert (name, memory) == ("busy", "64Mi")
    assert 200 < int(cpu.removesuffix("m")) < 300


def test_kubectl_top_shows_nodes(kubectl: Kubectl) -> None:
    until(lambda: pod_metrics(kubectl))
    header, line = kubectl("top", "nodes").splitlines()
    assert header.split()[:2] == ["NAME", "CPU(cores)"]
    assert line.split()[0] == "node-1"


def test_its_resources_are_among_the_servers_own(kubectl: Kubectl) -> None:
    lines = kubectl("api-resources", "--api-group=metrics.k8s.io", "--no-headers").splitlines()
    assert [line.split() for line in lines] == [
        ["nodes", "metrics.k8s.io/v1beta1", "false", "NodeMetrics"],
        ["pods", "metrics.k8s.io/v1beta1", "true", "PodMetrics"],
    ]
    assert "PodMetrics" in kubectl("explain", "pods", "--api-version=metrics.k8s.io/v1beta1")


def test_the_roles_of_the_cluster_hold_behind_it(kubectl: Kubectl) -> None:
    refused = kubectl.fails("get", "pods.metrics.k8s.io", "--as=jane")
    assert 'User "jane" cannot list resource "pods" in API group "metrics.k8s.io"' in refused


def test_its_deletion_brings_the_metrics_of_the_server_back(kubectl: Kubectl) -> None:
    (found,) = until(lambda: pod_metrics(kubectl))
    assert found["containers"][0]["usage"]["memory"] == f"{64 * 1024}Ki"
    kubectl("delete", "apiservice", "v1beta1.metrics.k8s.io")
    (found,) = until(lambda: pod_metrics(kubectl))
    assert found["containers"][0]["usage"]["memory"] == "64Mi"
    assert kubectl("top", "nodes").splitlines()[1].split()[0] == "node-1"
