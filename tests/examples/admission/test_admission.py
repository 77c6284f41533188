"""Commands of examples/03-admission/README.md, run against `sampan up`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import PASSED_ON
from tests.e2e.kubectl import COMMAND_TIMEOUT_S, Kubectl
from tests.user_environment import user_environment

pytestmark = pytest.mark.e2e

FOLDER = Path(__file__).parents[3] / "examples" / "03-admission"
LAUNCHER = FOLDER.parents[1] / "packaging" / "krew"
TIMEOUT = "--timeout=30s"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server with its control loops."""
    with running(tmp_path_factory.mktemp("admission") / "data", "--storage", "memory", loops=True) as started:
        yield started


@pytest.fixture(scope="module")
def kubectl(up: Server, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """Return kubectl in the example's namespace."""
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not on PATH")
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    home = str(tmp_path_factory.mktemp("home"))
    environment = {**passed_on, "HOME": home, "KUBECONFIG": str(up.data / "kubeconfig"), "NO_PROXY": "*"}
    kubectl = Kubectl(program, environment, "boats")
    kubectl("apply", "-f", str(FOLDER / "namespace.yaml"))
    return kubectl


@pytest.fixture(scope="module")
def webhooks(up: Server, kubectl: Kubectl) -> Iterator[None]:
    """Run the webhooks as a process until they are ready."""
    command = [sys.executable, str(FOLDER / "webhooks.py")]
    environment = user_environment(KUBECONFIG=str(up.data / "kubeconfig"))
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("webhooks ready on port")
        yield
    finally:
        process.terminate()
        assert process.wait(timeout=20) == 0
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture(scope="module")
def fleet(kubectl: Kubectl, webhooks: None) -> Kubectl:
    """Return kubectl after policies and quota are applied and the Deployment is rolled out."""
    kubectl("apply", "-f", str(FOLDER / "policies.yaml"), "-f", str(FOLDER / "quota.yaml"))
    kubectl("wait", "--for=jsonpath={.status.hard.pods}=3", "resourcequota/harbour", TIMEOUT)
    kubectl("apply", "-f", str(FOLDER / "fleet.yaml"))
    kubectl("rollout", "status", "deployment/fleet", TIMEOUT)
    return kubectl


def test_policy_adds_the_label_to_a_deployment(fleet: Kubectl) -> None:
    assert "team=boats" in fleet("get", "deployments", "--show-labels")


def test_webhook_adds_the_sidecar_to_each_pod(fleet: Kubectl) -> None:
    columns = "custom-columns=POD:.metadata.name,CONTAINERS:.spec.containers[*].name"
    rows = [line.split() for line in fleet("get", "pods", "-l", "app=fleet", "-o", columns).splitlines()]
    assert [row[1] for row in rows] == ["CONTAINERS", "boat,log-shipper", "boat,log-shipper"]


def test_the_webhook_refuses_an_image_without_a_fixed_tag(fleet: Kubectl) -> None:
    output = fleet.fails("run", "raft", "--image=boat:latest")
    assert 'spec.containers[0].image: Invalid value: "boat:latest": name a tag other than latest' in output


def test_the_policy_refuses_too_many_replicas(fleet: Kubectl) -> None:
    text = (FOLDER / "fleet.yaml").read_text().replace("replicas: 2", "replicas: 9")
    output = fleet.fails("apply", "-f", "-", stdin=text)
    assert "denied request: a fleet has at most 5 boats, not 9" in output


def test_quota_refuses_the_fourth_pod(fleet: Kubectl) -> None:
    fleet("run", "third", "--image=boat:1.0")
    output = fleet.fails("run", "fourth", "--image=boat:1.0")
    assert (
        'pods "fourth" is forbidden: exceeded quota: harbour, requested: pods=1, used: pods=3, limited: pods=3'
        in output
    )


def _sampan(kubectl: Kubectl, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Run `kubectl sampan …`, which kubectl finds on PATH."""
    environment = {**kubectl.environment, "SAMPAN_PYTHON": sys.executable}
    environment["PATH"] = os.pathsep.join([str(LAUNCHER), environment["PATH"]])
    return subprocess.run(
        [kubectl.program, "sampan", *arguments, "-n", kubectl.namespace],
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=COMMAND_TIMEOUT_S,
    )


def test_trace_names_the_webhook_and_the_quota(fleet: Kubectl) -> None:
    manifest = fleet("run", "fifth", "--image=boat:1.0", "--dry-run=client", "-o", "yaml")
    done = _sampan(fleet, "trace", "-f", "-", stdin=manifest)
    lines = done.stdout.splitlines()
    webhook = next(index for index, line in enumerate(lines) if line.endswith("MutatingAdmissionWebhook"))
    assert "log-shipper" in lines[webhook + 1]
    assert done.returncode == 1
    assert lines[-2].endswith("ResourceQuota")
    assert "exceeded quota: harbour" in lines[-1]


def test_tree_shows_the_objects_of_the_deployment(fleet: Kubectl) -> None:
    done = _sampan(fleet, "tree", "deployment/fleet")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    names = [next(word for word in row if "/" in word).lstrip("│├└─") for row in rows]
    kinds = [name.partition("/")[0] for name in names]
    assert kinds == ["Deployment.apps", "ReplicaSet.apps", "Pod", "Pod"]
    assert rows[0][2:4] == ["-", "-"]
    assert {row[-4] for row in rows[2:]} == {"True"}


def test_history_names_the_writers(fleet: Kubectl) -> None:
    lines = _sampan(fleet, "history", "deployment/fleet").stdout.splitlines()
    assert lines[-1].startswith("  created by ")
    assert any(line.endswith("(Update of status)") for line in lines)
    assert any(line.startswith(("    ~ .status.", "    + .status.")) for line in lines)


def test_other_namespaces_are_not_affected(fleet: Kubectl) -> None:
    fleet("run", "raft", "--image=boat:latest", "--namespace=default")
    pod = fleet.get("pod", "raft", "--namespace=default")
    assert [container["name"] for container in pod["spec"]["containers"]] == ["raft"]


def test_clean_up_deletes_everything(fleet: Kubectl) -> None:
    fleet("delete", "namespace", "boats")
    fleet("delete", "-f", str(FOLDER / "policies.yaml"))
    output = fleet("delete", "mutatingwebhookconfiguration,validatingwebhookconfiguration", "admission-example")
    assert output.count("deleted") == 2
