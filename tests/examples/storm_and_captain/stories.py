"""Stories of the operators in a cluster with real Pods: equal on process nodes and with containers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.e2e.kubectl import Kubectl
from tests.examples.storm_and_captain.operators import FOLDERS, Operator, crd_text
from tests.machines import wait_for

HARBOUR: Final = (FOLDERS["captains"] / "app" / "harbour.py").read_text()


def until(condition: Callable[[], object], what: str) -> None:
    """Wait until a condition holds; the limit is generous."""
    wait_for(condition, what, 180.0)


def writer(name: str, image: str, url: str) -> dict[str, Any]:
    """Return a Pod that writes while it leads."""
    script = ["python3", "/app/harbour.py", "write", url, "/captain", name]
    files = [
        {"path": "role", "fieldRef": {"fieldPath": "metadata.labels['role']"}},
        {"path": "epoch", "fieldRef": {"fieldPath": "metadata.annotations['captains.example.com/epoch']"}},
    ]
    mounts = [{"name": "app", "mountPath": "/app"}, {"name": "captain", "mountPath": "/captain"}]
    volumes = [{"name": "app", "configMap": {"name": "harbour"}}, {"name": "captain", "downwardAPI": {"items": files}}]
    return pod(name, image, script, mounts, volumes, {"app": "harbour"})


def pod(
    name: str, image: str, command: list[str], mounts: list[Any], volumes: list[Any], labels: dict[str, str]
) -> dict[str, Any]:
    """Return a Pod with one container."""
    container = {"name": "main", "image": image, "command": command, "volumeMounts": mounts}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container], "volumes": volumes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}


def an_application_follows_its_leader(
    kubectl: Kubectl, operator: Operator, image: str, url: str, writes: Callable[[], list[str]]
) -> None:
    """The leader writes; after its end the next one does, with a higher epoch, also if the operator is killed."""
    kubectl("create", "configmap", "harbour", "--from-file=harbour.py=/dev/stdin", stdin=HARBOUR)
    kubectl.apply(crd_text("captains", "Captain"))
    kubectl("wait", "--for=condition=Established", "crd/captains.captains.example.com", "--timeout=55s")
    for name in ("a", "b"):
        kubectl.apply(json.dumps(writer(name, image, url)))
    kubectl("wait", "--for=condition=Ready", "pod/a", "pod/b", "--timeout=55s")
    kubectl.apply(json.dumps(captain()))
    until(lambda: "1 a" in writes(), "a write of the first leader")
    operator.kill()
    kubectl("delete", "pod", "a", "--wait=false")
    operator.start()
    until(lambda: "2 b" in writes(), "a write of the second leader")
    assert kubectl.names("pods", "-l", "role=leader") == ["pod/b"]
    epochs = [int(line.partition(" ")[0]) for line in writes()]
    assert epochs == sorted(epochs)
    assert {line for line in writes() if line.startswith("2 ")} == {"2 b"}
    kubectl("delete", "captain", "harbour", "--timeout=55s")


def captain() -> dict[str, Any]:
    """Return the captain of the application."""
    head = {"apiVersion": "captains.example.com/v1", "kind": "Captain", "metadata": {"name": "harbour"}}
    return {**head, "spec": {"selector": {"app": "harbour"}, "leaseSeconds": 3, "publish": "service"}}


def a_storm_kills_within_its_budget(kubectl: Kubectl, operator: Operator, image: str) -> None:
    """A storm kills two Pods of a Deployment, also if the operator is killed in the middle."""
    kubectl.apply(crd_text("storms", "Storm"))
    kubectl("wait", "--for=condition=Established", "crd/storms.storms.example.com", "--timeout=55s")
    kubectl("label", "namespace", "default", "storms.example.com/allowed=true", "--overwrite")
    kubectl("create", "deployment", "web", f"--image={image}", "--replicas=3", "--", "sleep", "1000")
    kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=55s")
    before = _uids(kubectl)
    kubectl.apply(json.dumps(storm()))
    until(lambda: "Hit" in _states(kubectl), "the first victim")
    operator.kill()
    operator.start()
    kubectl("wait", "--for=jsonpath={.status.phase}=Passed", "storm/example", "--timeout=55s")
    assert _states(kubectl) == ["Hit", "Hit"]
    assert len(before - _uids(kubectl)) == 2
    kubectl("delete", "deployment/web", "storm/example", "--timeout=55s")


def storm() -> dict[str, Any]:
    """Return a storm with two victims."""
    hypothesis = {"selector": {"app": "web"}, "minReady": 1}
    head = {"apiVersion": "storms.example.com/v1", "kind": "Storm", "metadata": {"name": "example"}}
    spec = {"selector": {"app": "web"}, "actions": ["kill"], "max": 2, "windowSeconds": 8, "hypothesis": hypothesis}
    return {**head, "spec": spec}


def _states(kubectl: Kubectl) -> list[str]:
    found = kubectl.get("storm", "example").get("status", {})
    return [each.get("state", "Planned") for each in found.get("victims", [])]


def _uids(kubectl: Kubectl) -> set[str]:
    return set(kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.uid}").split())


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file; none if it does not exist."""
    return path.read_text().splitlines() if path.exists() else []
