"""A chart on a cluster with the real helm: install, upgrade with other values and other code, roll back, uninstall."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from sampan.project.bundle.helm.chart import chart_files
from tests.cli.server import Server, running
from tests.e2e.conftest import kubectl_environment
from tests.e2e.helm_program import Helm, helm_program
from tests.e2e.kubectl import Kubectl
from tests.ports import free_ports
from tests.project.charts.projects import (
    edit,
    make_simple_boats,
    objects_of,
    require_visible_python,
    sampan,
    write_files,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

NAMESPACE = "harbour"
WITHIN_S = 120.0
LABEL = "app.kubernetes.io/instance=fleet"
WAIT = ("--wait", "--timeout", "300s")
BOAT = """
apiVersion: boats.example.com/v1
kind: Boat
metadata: {name: gull}
spec: {length: 400}
"""


@pytest.fixture(scope="module")
def server(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    require_visible_python()
    data = tmp_path_factory.mktemp("helm-server") / "data"
    with running(data, "--storage=memory", "--node-runtime=process", loops=True) as started:
        yield started


@pytest.fixture(scope="module")
def environment(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return kubectl_environment(server, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def helm(environment: dict[str, str]) -> Helm:
    return Helm(helm_program(), environment)


@pytest.fixture
def kubectl(program: str, environment: dict[str, str]) -> Kubectl:
    return Kubectl(program, environment, NAMESPACE)


def flags_of_ports() -> list[str]:
    """Return flags for free ports, because all Pods of a process node share the machine's."""
    health, metrics = free_ports(2)
    return [f"--health-probe-bind-address=:{health}", f"--metrics-bind-address=:{metrics}"]


def fleet(root: Path) -> Path:
    """Return a project with a webhook, whose process listens on free ports."""
    # The old process must end before the new one can have its ports.
    settings = f"""
[tool.sampan.bundle]
args = {json.dumps(flags_of_ports())}

[[tool.sampan.patches]]
kind = "Deployment"
merge = {{spec = {{strategy = {{type = "Recreate"}}}}}}
"""
    project = make_simple_boats(root, settings=settings)
    sampan(project, "create", "webhook", "--kind", "Boat", "--validation")
    (port,) = free_ports(1)
    edit(project, "src/boats/webhooks/__init__.py", "WebhookOptions(", f"WebhookOptions(port={port}, ")
    check = '    return ["a long boat"] if new.spec.length > 100 else []'
    edit(project, "src/boats/boat/webhook.py", "    return []", check)
    return project


def values(project: Path) -> dict[str, Any]:
    """Return what a user of this cluster sets: its nodes run the processes of this machine, as this user."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": "/code",
        "CREW": "two",
    }
    return {
        "commonLabels": {"team": "sea"},
        "podAnnotations": {"example.com/reason": "first"},
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        "volumes": [{"name": "code", "hostPath": {"path": str(project / "src")}}],
        "volumeMounts": [{"name": "code", "mountPath": "/code"}],
        "podSecurityContext": {"runAsNonRoot": False},
        "serviceAccount": {"name": "skipper"},
    }


def test_a_chart_is_installed_upgraded_rolled_back_and_uninstalled(
    helm: Helm, kubectl: Kubectl, tmp_path: Path
) -> None:
    project = fleet(tmp_path)
    chart = write_files(tmp_path / "chart", chart_files(objects_of(project)))
    mine = tmp_path / "mine.yaml"
    mine.write_text(json.dumps(values(project)))
    place = ("--namespace", NAMESPACE, "--values", str(mine))

    shown = helm("install", "fleet", str(chart), *place, "--create-namespace", *WAIT)
    assert "kubectl get boats.boats.example.com --all-namespaces" in shown
    customised(the_pod(kubectl), crew="two")
    assert "a long boat" in admitted(kubectl, "apply", "-f", "-", stdin=BOAT)
    kubectl("wait", "boat/gull", "--for=condition=Ready", "--timeout=60s")

    length = '    """Length of the boat."""\n'
    edit(project, "src/boats/boat/v1.py", length, f'{length}    sail: str = "white"\n')
    edit(project, "pyproject.toml", 'version = "0.1.0"', 'version = "0.2.0"')
    write_files(chart, chart_files(objects_of(project)))
    mine.write_text(mine.read_text().replace('"two"', '"three"'))
    helm("upgrade", "fleet", str(chart), *place, *WAIT)
    customised(the_pod(kubectl), crew="three")
    admitted(kubectl, "patch", "boat/gull", "--type=merge", "--patch", '{"spec": {"sail": "red"}}')
    assert kubectl.get("boat/gull")["spec"]["sail"] == "red"
    (hook,) = kubectl.get("validatingwebhookconfiguration/fleet-boats")["webhooks"]
    assert hook["clientConfig"]["caBundle"]

    helm("rollback", "fleet", "1", "--namespace", NAMESPACE, *WAIT)
    customised(the_pod(kubectl), crew="two")
    assert "revision: 3" in helm("get", "metadata", "fleet", "--namespace", NAMESPACE, "-o", "yaml")

    refused = helm.fails("upgrade", "fleet", str(chart), *place, "--set", "image.tags=1")
    assert "additional properties 'tags' not allowed" in refused
    uninstalled = helm("uninstall", "fleet", "--namespace", NAMESPACE, *WAIT)
    assert "[CustomResourceDefinition] boats.boats.example.com" in uninstalled
    assert kubectl.get("boat/gull")["spec"]["length"] == 400
    until_gone(kubectl)
    helm("install", "fleet", str(chart), *place, "--set", "replicas=0", *WAIT)
    helm("uninstall", "fleet", "--namespace", NAMESPACE, *WAIT)


def customised(pod: Mapping[str, Any], *, crew: str) -> None:
    """Assert that a Pod has what the user has set."""
    (container,) = pod["spec"]["containers"]
    assert pod["metadata"]["labels"]["team"] == "sea"
    assert pod["metadata"]["annotations"]["example.com/reason"] == "first"
    assert pod["spec"]["serviceAccountName"] == "skipper"
    assert {"name": "CREW", "value": crew} in container["env"]
    assert "/code" in [each["mountPath"] for each in container["volumeMounts"]]


def test_two_releases_in_one_cluster_manage_the_objects_of_their_namespaces(
    helm: Helm, kubectl: Kubectl, tmp_path: Path
) -> None:
    project = make_simple_boats(tmp_path, group="rivers.example.com")
    mine = tmp_path / "mine.yaml"
    mine.write_text(json.dumps({**values(project), "serviceAccount": {}, "rbac": {"scope": "namespaced"}}))
    for name, crds in (("north", "true"), ("south", "false")):
        chart = write_files(tmp_path / name, chart_files(objects_of(project, args=flags_of_ports())))
        place = ("--namespace", name, "--create-namespace", "--values", str(mine))
        helm("install", "boats", str(chart), *place, "--set", f"crds.enabled={crds}", *WAIT)
    for name in ("north", "south"):
        there = replace(kubectl, namespace=name)
        there.apply(BOAT.replace("boats.example.com", "rivers.example.com"))
        there("wait", "boats.rivers.example.com/gull", "--for=condition=Ready", "--timeout=60s")
    allowed = {
        (account, place): kubectl.run(
            "auth", "can-i", "list", "boats.rivers.example.com", "--as", f"system:serviceaccount:{account}:boats",
            "--namespace", place,
        ).stdout.strip()
        for account in ("north", "south")
        for place in ("north", "south")
    }  # fmt: skip
    own = {key: "yes" if key[0] == key[1] else "no" for key in allowed}
    assert allowed == own
    for name in ("north", "south"):
        helm("uninstall", "boats", "--namespace", name, *WAIT)


def admitted(kubectl: Kubectl, *arguments: str, stdin: str | None = None) -> str:
    """Run a command whose request passes the webhook, and return its stderr.

    It is repeated while it fails: a Service has its endpoints some time after the Pod is ready.
    """
    deadline = monotonic() + WITHIN_S
    while (done := kubectl.run(*arguments, stdin=stdin)).returncode:
        assert monotonic() < deadline, done.stderr
        sleep(0.2)
    return done.stderr


def until_gone(kubectl: Kubectl) -> None:
    """Wait until no object of the release is left. Helm does not wait for the end of Pods."""
    deadline = monotonic() + WITHIN_S
    while found := kubectl.names("all,validatingwebhookconfigurations,rolebindings,secrets", "-l", LABEL):
        assert monotonic() < deadline, found
        sleep(0.2)


def the_pod(kubectl: Kubectl) -> dict[str, Any]:
    """Return the Pod of the operator that is not ending."""
    pods = kubectl.get("pods", "-l", LABEL)["items"]
    found: dict[str, Any]
    (found,) = (each for each in pods if "deletionTimestamp" not in each["metadata"])
    return found
