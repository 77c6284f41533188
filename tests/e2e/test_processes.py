"""A server whose one node runs real processes: what a user does with Pods, from kubectl to the process and back."""

import socket
import urllib.request
from collections.abc import Iterator

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import kubectl_environment
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: host, command: [sh, -c, 'echo up; sleep 1; echo on; sleep 1000']}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""
HTTP = """
apiVersion: v1
kind: Pod
metadata: {{name: http, labels: {{app: http}}}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: host
    workingDir: /srv/www
    command: [python3, -m, http.server, "{port}"]
    ports: [{{containerPort: {port}}}]
    readinessProbe: {{httpGet: {{path: /hello, port: {port}}}, periodSeconds: 1}}
    volumeMounts: [{{name: www, mountPath: /srv/www}}]
  volumes: [{{name: www, configMap: {{name: www}}}}]
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {{name: http}}
spec: {{selector: {{app: http}}, ports: [{{port: 80, targetPort: {port}}}]}}
"""


@pytest.fixture(scope="module")
def server(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("processes") / "data"
    with running(data, "--storage=memory", "--node-runtime=process", loops=True) as started:
        yield started


@pytest.fixture(scope="module")
def kubectl(program: str, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    found = Kubectl(program, kubectl_environment(server, tmp_path_factory.mktemp("home")), "default")
    found("wait", "--for=create", "serviceaccount/default", "--timeout=30s")
    return found


@pytest.fixture(scope="module")
def pod(kubectl: Kubectl) -> str:
    """The name of a Pod of the Deployment, whose rollout is done."""
    kubectl.apply(WEB)
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    return kubectl.names("pods", "-l", "app=web")[0].removeprefix("pod/")


@pytest.fixture(scope="module")
def port(kubectl: Kubectl) -> int:
    """The port on which the Pod `http` listens, with a Service before it."""
    with socket.create_server(("", 0)) as free:
        port: int = free.getsockname()[1]
    kubectl("create", "configmap", "www", "--from-literal=hello=hello, world")
    kubectl.apply(HTTP.format(port=port))
    kubectl.apply(SERVICE.format(port=port))
    kubectl("wait", "--for=condition=Ready", "pod/http", "--timeout=60s")
    return port


def test_a_log_is_followed(kubectl: Kubectl, pod: str) -> None:
    with kubectl.started("logs", "-f", pod) as log:
        assert log.lines(2) == ["up", "on"]


def test_a_process_is_talked_to(kubectl: Kubectl) -> None:
    talk = (
        "run",
        "-i",
        "--rm",
        "--restart=Never",
        "--image=host",
        "talk",
        "--",
        "sh",
        "-c",
        "read line; echo got $line",
    )
    assert "got a line" in kubectl(*talk, stdin="a line\n")
    assert "not found" in kubectl.fails("get", "pod", "talk")


def test_commands_run_and_files_are_copied_next_to_the_process(kubectl: Kubectl, pod: str) -> None:
    kubectl("exec", pod, "--", "sh", "-c", "mkdir -p /tmp/of-the-pod && echo inner > /tmp/of-the-pod/file")
    assert kubectl("exec", pod, "--", "cat", "/tmp/of-the-pod/file") == "inner"
    assert kubectl("exec", "-i", pod, "--", "cat", stdin="through") == "through"
    assert "exit code 7" in kubectl.fails("exec", pod, "--", "sh", "-c", "exit 7", code=7)


def test_a_port_is_forwarded_to_the_process(kubectl: Kubectl, port: int) -> None:
    with kubectl.started("port-forward", "pod/http", f":{port}") as forwarding:
        local = forwarding.line().split(" ")[2].rsplit(":", 1)[1]
        with urllib.request.urlopen(f"http://127.0.0.1:{local}/hello", timeout=20) as response:
            assert response.read() == b"hello, world"


def test_a_service_has_the_process_behind_it(kubectl: Kubectl, port: int) -> None:
    address = kubectl.get("pod", "http")["status"]["podIP"]
    if address.startswith("127."):
        pytest.skip("this machine has no address but loopback, where endpoints cannot be")
    kubectl("wait", "--for=jsonpath={.subsets[0].addresses[0].ip}=" + address, "endpoints/http", "--timeout=60s")
    assert kubectl("get", "--raw", "/api/v1/namespaces/default/services/http:80/proxy/hello") == "hello, world"
    assert kubectl("get", "--raw", f"/api/v1/namespaces/default/pods/http:{port}/proxy/hello") == "hello, world"


def test_a_job_of_a_cronjob_runs_and_leaves_its_log(kubectl: Kubectl) -> None:
    kubectl("create", "cronjob", "now-and-then", "--image=host", "--schedule=0 0 1 1 *", "--", "sh", "-c", "echo done")
    kubectl("create", "job", "once", "--from=cronjob/now-and-then")
    kubectl("wait", "--for=condition=complete", "job/once", "--timeout=60s")
    assert kubectl("logs", "job/once") == "done"


def test_a_drain_waits_for_the_budget(kubectl: Kubectl, pod: str) -> None:
    (node,) = kubectl.names("nodes")
    message = kubectl.fails(
        "drain",
        node,
        "--ignore-daemonsets",
        "--force",
        "--delete-emptydir-data",
        "--pod-selector=app=web",
        "--timeout=3s",
    )
    assert "Cannot evict pod as it would violate the pod's disruption budget." in message
    kubectl("uncordon", node)
    assert len(kubectl.names("pods", "-l", "app=web")) == 2


def test_a_process_that_is_deleted_ends(kubectl: Kubectl) -> None:
    kubectl(
        "run", "brief", "--image=host", "--", "sh", "-c", "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"
    )
    kubectl("wait", "--for=condition=Ready", "pod/brief", "--timeout=60s")
    kubectl("delete", "pod", "brief")
    assert "not found" in kubectl.fails("get", "pod", "brief")
