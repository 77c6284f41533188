"""`kubectl taint`, `cordon` and `uncordon`."""

from collections.abc import Iterator

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import NODE

pytestmark = pytest.mark.e2e


@pytest.fixture
def node(kubectl: Kubectl, numbers: Iterator[int]) -> str:
    """The name of a node."""
    name = f"node-{next(numbers)}"
    kubectl("create", "-f", "-", stdin=NODE.format(name=name))
    return name


def test_taints_are_added_and_removed(kubectl: Kubectl, node: str) -> None:
    assert kubectl("taint", "node", node, "gpu=yes:NoSchedule", "old:NoExecute") == f"node/{node} tainted"
    taints = kubectl.get("node", node)["spec"]["taints"]
    assert [(taint["key"], taint.get("value"), taint["effect"]) for taint in taints] == [
        ("gpu", "yes", "NoSchedule"),
        ("old", None, "NoExecute"),
        ("node.kubernetes.io/not-ready", None, "NoSchedule"),
    ]
    assert kubectl("taint", "node", node, "old:NoExecute-") == f"node/{node} untainted"
    keys = [taint["key"] for taint in kubectl.get("node", node)["spec"]["taints"]]
    assert keys == ["gpu", "node.kubernetes.io/not-ready"]


def test_taints_are_not_overwritten_unless_called(kubectl: Kubectl, node: str) -> None:
    kubectl("taint", "node", node, "gpu=yes:NoSchedule")
    assert "already has gpu taint(s) with same effect(s)" in kubectl.fails("taint", "node", node, "gpu=no:NoSchedule")
    kubectl("taint", "node", node, "gpu=no:NoSchedule", "--overwrite")
    assert kubectl.get("node", node)["spec"]["taints"][0]["value"] == "no"


def test_cordon_and_uncordon(kubectl: Kubectl, node: str) -> None:
    assert kubectl("cordon", node) == f"node/{node} cordoned"
    assert kubectl.get("node", node)["spec"]["unschedulable"] is True
    assert kubectl("get", "node", node, "--no-headers").split()[1] == "Unknown,SchedulingDisabled"
    assert kubectl("cordon", node) == f"node/{node} already cordoned"
    assert kubectl("uncordon", node) == f"node/{node} uncordoned"
    assert "unschedulable" not in kubectl.get("node", node)["spec"]
