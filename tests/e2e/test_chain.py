"""Deployment → ReplicaSet → Pod → scheduler → node: a server with its control loops, seen by the real kubectl."""

import os
import signal
from collections.abc import Iterator

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import PASSED_ON
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

TIMEOUT = "--timeout=30s"
ENDS_BY_ITSELF = """
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  annotations: {{"sampan.dev/{what}": "200ms"}}
spec:
  restartPolicy: Never
  containers: [{{name: main, image: "app:1"}}]
"""


@pytest.fixture(scope="module")
def up(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with controllers, scheduler and one simulated node."""
    with running(tmp_path_factory.mktemp("chain") / "data", "--storage", "memory", loops=True) as started:
        yield started


@pytest.fixture(scope="module")
def admin(up: Server, program: str, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl in the namespace `default`, once the node is ready."""
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    home = str(tmp_path_factory.mktemp("home"))
    environment = {**passed_on, "HOME": home, "KUBECONFIG": str(up.data / "kubeconfig"), "NO_PROXY": "*"}
    kubectl = Kubectl(program, environment, "default")
    kubectl("wait", "--for=create", "node/node-1", TIMEOUT)
    kubectl("wait", "--for=condition=Ready", "node/node-1", TIMEOUT)
    return kubectl


@pytest.fixture
def chain(admin: Kubectl, request: pytest.FixtureRequest, numbers: Iterator[int]) -> Kubectl:
    """kubectl in a namespace of the test's own."""
    name = f"{request.node.originalname.removeprefix('test_')[:50]}-{next(numbers)}".replace("_", "-")
    admin("create", "namespace", name)
    return Kubectl(admin.program, admin.environment, name)


def test_the_first_pod_of_a_namespace_may_follow_at_once(admin: Kubectl) -> None:
    admin("create", "namespace", "fresh")
    admin("run", "web", "--image=app:1", "--namespace", "fresh")
    admin("wait", "--for=condition=Ready", "pod/web", "--namespace", "fresh", TIMEOUT)


def deploy(kubectl: Kubectl, replicas: int = 3) -> None:
    """A deployment `web` that has rolled out."""
    kubectl("create", "deployment", "web", "--image=nginx:1", f"--replicas={replicas}")
    kubectl("rollout", "status", "deployment/web", TIMEOUT)


def test_a_deployment_rolls_out_and_all_of_it_is_shown(chain: Kubectl) -> None:
    deploy(chain)
    shown = chain("get", "all")
    assert shown.count("1/1     Running") == 3
    assert "deployment.apps/web   3/3     3            3" in shown
    assert len({pod["status"]["podIP"] for pod in chain.get("pods")["items"]}) == 3


def test_a_deployment_is_scaled(chain: Kubectl) -> None:
    deploy(chain, 1)
    chain("scale", "deployment/web", "--replicas=4")
    chain("rollout", "status", "deployment/web", TIMEOUT)
    assert len(chain.names("pods")) == 4
    chain("scale", "deployment/web", "--replicas=0")
    chain("wait", "--for=delete", "pod", "-l", "app=web", TIMEOUT)


def test_a_new_image_is_rolled_out_and_undone(chain: Kubectl) -> None:
    deploy(chain)
    chain("set", "image", "deployment/web", "nginx=nginx:2")
    chain("rollout", "status", "deployment/web", TIMEOUT)
    assert chain("get", "pods", "-o", "jsonpath={.items[*].spec.containers[*].image}").split() == ["nginx:2"] * 3
    revisions = chain("rollout", "history", "deployment/web").splitlines()[2:]
    assert [line.split()[0] for line in revisions] == ["1", "2"]
    chain("rollout", "undo", "deployment/web")
    chain("rollout", "status", "deployment/web", TIMEOUT)
    assert chain("get", "deployment/web", "-o", "jsonpath={..image}") == "nginx:1"
    assert chain("rollout", "history", "deployment/web").splitlines()[-1].split()[0] == "3"


def test_an_autoscaler_reports_that_it_can_not_know_and_keeps_its_bounds(chain: Kubectl) -> None:
    deploy(chain, 1)
    chain("set", "resources", "deployment/web", "--requests=cpu=100m")
    done = chain("autoscale", "deployment/web", "--min=2", "--max=4", "--cpu-percent=80")
    assert done == "horizontalpodautoscaler.autoscaling/web autoscaled"
    chain("wait", "--for=jsonpath={.spec.replicas}=2", "deployment/web", TIMEOUT)
    chain("wait", "--for=condition=AbleToScale", "hpa/web", TIMEOUT)
    header, row = (line.split("  ") for line in chain("get", "hpa").splitlines())
    assert [word.strip() for word in header if word] == [
        "NAME", "REFERENCE", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "AGE"
    ]  # fmt: skip
    assert [word.strip() for word in row if word][:5] == ["web", "Deployment/web", "cpu: <unknown>/80%", "2", "4"]


def test_a_pod_that_is_deleted_is_made_again(chain: Kubectl) -> None:
    deploy(chain, 1)
    (before,) = chain.names("pods")
    chain("delete", before, TIMEOUT)
    chain("rollout", "status", "deployment/web", TIMEOUT)
    (after,) = chain.names("pods")
    assert before != after


def test_dependents_go_before_their_owner_in_the_foreground(chain: Kubectl) -> None:
    deploy(chain)
    chain("delete", "deployment/web", "--cascade=foreground", TIMEOUT)
    assert chain.names("deployments,replicasets,pods") == []


def test_dependents_go_after_their_owner_in_the_background(chain: Kubectl) -> None:
    deploy(chain, 1)
    chain("delete", "deployment/web", TIMEOUT)
    chain("wait", "--for=delete", "replicaset", "-l", "app=web", TIMEOUT)
    chain("wait", "--for=delete", "pod", "-l", "app=web", TIMEOUT)


def test_orphans_stay(chain: Kubectl) -> None:
    deploy(chain, 2)
    chain("delete", "deployment/web", "--cascade=orphan", TIMEOUT)
    (replica_set,) = chain.get("replicasets")["items"]
    assert "ownerReferences" not in replica_set["metadata"]
    assert len(chain.names("pods")) == 2


def test_a_namespace_goes_with_all_that_is_in_it(chain: Kubectl) -> None:
    deploy(chain, 2)
    chain("create", "configmap", "notes", "--from-literal=a=b")
    chain("delete", "namespace", chain.namespace, TIMEOUT)
    assert "NotFound" in chain.fails("get", "namespace", chain.namespace)
    assert chain.names("all") == []


def test_a_job_completes(chain: Kubectl) -> None:
    chain("create", "job", "once", "--image=app:1")
    chain("wait", "--for=condition=complete", "job/once", TIMEOUT)
    (pod,) = chain.get("pods")["items"]
    assert pod["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize(("what", "phase"), [("complete-after", "Succeeded"), ("fail-after", "Failed")])
def test_a_pod_does_what_its_annotations_state(chain: Kubectl, what: str, phase: str) -> None:
    chain("create", "-f", "-", stdin=ENDS_BY_ITSELF.format(name="script", what=what))
    chain("wait", f"--for=jsonpath={{.status.phase}}={phase}", "pod/script", TIMEOUT)


def test_the_loops_are_started_again_when_they_die(chain: Kubectl, up: Server) -> None:
    for child in children(up.process.pid):
        os.kill(child, signal.SIGKILL)
    deploy(chain, 2)
    assert len(chain.names("pods")) == 2


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as reported:
        return [int(each) for each in reported.read().split()]
