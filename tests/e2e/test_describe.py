"""`kubectl describe`: what it makes of objects, what belongs to them, and their events."""

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, NODE, POD, SERVICE, documents

pytestmark = pytest.mark.e2e

EVENT = """
apiVersion: v1
kind: Event
metadata: {{generateName: {name}-, namespace: {namespace}}}
involvedObject: {{apiVersion: v1, kind: {kind}, name: {name}, namespace: {namespace}, uid: {uid}}}
reason: Seen
message: somebody looked
type: Normal
source: {{component: observer}}
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
count: 3
"""


def fields(text: str) -> dict[str, str]:
    """The lines `Name: value` at the beginning of a line."""
    pairs = (line.split(":", 1) for line in text.splitlines() if line[:1].isalpha() and ":" in line)
    return {name: value.strip() for name, value in pairs}


def test_pod_with_its_events(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-f", "-", stdin=POD)
    uid = kubectl.get("pod", "web")["metadata"]["uid"]
    kubectl("create", "-f", "-", stdin=EVENT.format(name="web", namespace=namespace, kind="Pod", uid=uid))
    other = EVENT.format(name="web", namespace=namespace, kind="Pod", uid="another").replace("looked", "did not look")
    kubectl("create", "-f", "-", stdin=other)
    text = kubectl("describe", "pod", "web")
    found = fields(text)
    assert (found["Name"], found["Namespace"], found["Status"]) == ("web", namespace, "Pending")
    assert (found["Node"], found["QoS Class"]) == ("<none>", "BestEffort")
    assert "Image:        nginx:1.27" in text
    assert "(x3 over" in text
    assert "observer  somebody looked" in text
    assert "did not look" not in text


def test_deployment(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    text = kubectl("describe", "deployment/web")
    found = fields(text)
    assert found["Replicas"] == "2 desired | 0 updated | 0 total | 0 available | 0 unavailable"
    assert (found["Selector"], found["StrategyType"]) == ("app=web", "RollingUpdate")
    assert found["RollingUpdateStrategy"] == "25% max unavailable, 25% max surge"
    assert found["Events"] == "<none>"


def test_service(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=SERVICE)
    found = fields(kubectl("describe", "svc", "web"))
    assert (found["Type"], found["Selector"], found["TargetPort"]) == ("ClusterIP", "app=web", "8080/TCP")
    assert found["IP"] == kubectl.get("svc", "web")["spec"]["clusterIP"]
    assert found["Port"] == "<unset>  80/TCP"


def test_node(kubectl: Kubectl, numbers: Iterator[int]) -> None:
    name = f"node-{next(numbers)}"
    kubectl("create", "-f", "-", stdin=NODE.format(name=name))
    kubectl("create", "-f", "-", stdin=POD.replace("spec:", f"spec:\n  nodeName: {name}"))
    text = kubectl("describe", "node", name)
    found = fields(text)
    assert (found["Name"], found["Unschedulable"]) == (name, "false")
    assert "Non-terminated Pods:          (1 in total)" in text
    assert f"{kubectl.namespace}" in text


def test_namespace(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "quota", "limits", "--hard=pods=5")
    text = kubectl("describe", "ns", namespace)
    found = fields(text)
    assert (found["Name"], found["Status"]) == (namespace, "Active")
    assert "Name:     limits" in text


def test_secret_shows_sizes_only(kubectl: Kubectl) -> None:
    kubectl("create", "secret", "generic", "key", "--from-literal=token=abcdef")
    text = kubectl("describe", "secret", "key")
    assert "token:  6 bytes" in text
    assert "abcdef" not in text


def test_configmap(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    assert "colour:\n----\nblue" in kubectl("describe", "cm/settings")


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        pytest.param(["create", "role", "x", "--verb=get", "--resource=pods"], "role", id="role"),
        pytest.param(["create", "rolebinding", "x", "--role=x", "--user=eve"], "rolebinding", id="rolebinding"),
        pytest.param(["create", "sa", "x"], "sa", id="serviceaccount"),
        pytest.param(["create", "quota", "x", "--hard=cpu=1"], "quota", id="quota"),
        pytest.param(["create", "pdb", "x", "--selector=a=b", "--min-available=1"], "pdb", id="pdb"),
        pytest.param(["create", "job", "x", "--image=y"], "job", id="job"),
        pytest.param(["create", "cronjob", "x", "--image=y", "--schedule=@daily"], "cj", id="cronjob"),
        pytest.param(["create", "ingress", "x", "--rule=a.com/=b:80"], "ingress", id="ingress"),
        pytest.param(["autoscale", "deployment", "x", "--max=3"], "hpa", id="hpa"),
    ],
)
def test_generated_kinds(kubectl: Kubectl, arguments: list[str], kind: str) -> None:
    if kind == "hpa":
        kubectl("create", "deployment", "x", "--image=y")
    kubectl(*arguments)
    assert fields(kubectl("describe", kind, "x"))["Name"] == "x"


def test_several_objects_by_prefix_and_labels(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=documents(POD, CONFIG_MAP))
    assert fields(kubectl("describe", "pod", "we"))["Name"] == "web"
    assert kubectl("describe", "pods,cm", "-l", "app=web").count("Name:") == 2


def test_missing_objects_are_an_error(kubectl: Kubectl) -> None:
    assert kubectl.fails("describe", "pod", "nope") == 'Error from server (NotFound): pods "nope" not found'


def test_persistent_volumes_and_claims(kubectl: Kubectl, api: Api, numbers: Iterator[int]) -> None:
    claim = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: ""}
"""
    kubectl("create", "-f", "-", stdin=claim)
    found = fields(kubectl("describe", "pvc", "data"))
    assert (found["Status"], found["VolumeMode"]) == ("Pending", "Filesystem")
    name = f"pv-{next(numbers)}"
    volume = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    body = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": volume}
    api.create("/api/v1/persistentvolumes", body)
    assert fields(kubectl("describe", "pv", name))["Reclaim Policy"] == "Retain"
