"""Admission of Pods by a node."""

from typing import Any

import orjson
import pytest

from sampan.core.pods.tolerations import Taint
from sampan.node.admission.checks import LabelsAndTaints, NodeAdmission, PodRejection
from sampan.node.node_home import NodeHome
from tests.node.scripted import ScriptedRuntime

ALLOCATABLE = {"cpu": "2", "memory": "1Gi", "pods": "3"}


def admission(*taints: Taint) -> NodeAdmission:
    home = NodeHome(("127.0.0.1",), ScriptedRuntime(), ALLOCATABLE)
    return NodeAdmission({"node": home}, lambda name: LabelsAndTaints({"zone": "a"}, taints))


def raw(requests: dict[str, str] | None = None, ports: list[dict[str, Any]] | None = None, **spec: Any) -> bytes:
    container = {"name": "main", "resources": {"requests": requests or {}}, "ports": ports or []}
    return orjson.dumps({"metadata": {}, "spec": {"containers": [container], **spec}})


def test_pods_are_admitted_while_resources_last_and_release_them_at_their_end() -> None:
    node = admission()
    assert node.admit("node", "a", raw({"cpu": "1500m"})) is None
    assert node.admit("node", "a", raw({"cpu": "1500m"})) is None
    text = "Node didn't have enough resource: cpu, requested: 600, used: 1500, capacity: 2000"
    assert node.admit("node", "b", raw({"cpu": "600m"})) == PodRejection("OutOfcpu", text)
    node.release("node", "a")
    assert node.admit("node", "b", raw({"cpu": "600m"})) is None


def test_number_of_pods_is_limited() -> None:
    node = admission()
    assert [node.admit("node", uid, raw()) for uid in "abc"] == [None] * 3
    text = "Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"
    assert node.admit("node", "d", raw()) == PodRejection("OutOfpods", text)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"nodeSelector": {"zone": "b"}}, "NodeAffinity"),
        ({"nodeSelector": {"zone": "a"}}, None),
        ({"requests": {"memory": "2Gi"}}, "OutOfmemory"),
        ({"requests": {"example.com/gpu": "1"}}, None),
        ({"requests": {"cpu": "1"}, "initContainers": [{"resources": {"requests": {"cpu": "3"}}}]}, "OutOfcpu"),
        ({"overhead": {"cpu": "2"}, "requests": {"cpu": "1m"}}, "OutOfcpu"),
        ({"ports": [{"hostPort": 80, "protocol": "TCP"}]}, "NodePorts"),
        ({"ports": [{"hostPort": 80, "protocol": "UDP"}]}, None),
        ({"ports": [{"hostPort": 80, "protocol": "TCP", "hostIP": "127.0.0.2"}]}, "NodePorts"),
    ],
)
def test_unsuitable_pods_are_refused(spec: dict[str, Any], reason: str | None) -> None:
    node = admission()
    node.count("node", "there", raw(ports=[{"hostPort": 80}]))
    refusal = node.admit("node", "new", raw(**spec))
    assert (refusal.reason if refusal else None) == reason


def test_taints_refuse_pods_that_do_not_tolerate_them() -> None:
    node = admission(Taint("down", "", "NoExecute"), Taint("full", "", "NoSchedule"))
    refusal = node.admit("node", "a", raw())
    assert refusal is not None
    assert refusal.message == "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    assert node.admit("node", "a", raw(tolerations=[{"key": "down", "operator": "Exists"}])) is None
