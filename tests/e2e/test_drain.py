"""`kubectl drain`: it cordons a node and evicts its pods."""

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import NODE

pytestmark = pytest.mark.e2e

POD = """
apiVersion: v1
kind: Pod
metadata: {{name: web, labels: {{app: web}}}}
spec: {{nodeName: {node}, containers: [{{name: web, image: web}}]}}
"""
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""
EXHAUSTED = {
    "status": {
        "observedGeneration": 1,
        "disruptionsAllowed": 0,
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
}
RUNNING = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


@pytest.fixture
def node(kubectl: Kubectl, numbers: Iterator[int], api: Api) -> str:
    """The name of a node with a running pod."""
    name = f"node-{next(numbers)}"
    kubectl("create", "-f", "-", stdin=NODE.format(name=name))
    kubectl.apply(POD.format(node=name))
    api.patch(f"/api/v1/namespaces/{kubectl.namespace}/pods/web/status", RUNNING)
    return name


def test_drain_evicts_the_pods_of_a_node(kubectl: Kubectl, node: str) -> None:
    output = kubectl("drain", node, "--force", "--ignore-daemonsets", "--grace-period=0")
    assert output.splitlines() == [
        f"node/{node} cordoned",
        f"evicting pod {kubectl.namespace}/web",
        "pod/web evicted",
        f"node/{node} drained",
    ]
    assert kubectl.names("pods") == []


def test_drain_waits_for_a_budget_that_allows_nothing(kubectl: Kubectl, node: str, api: Api) -> None:
    kubectl.apply(BUDGET)
    api.patch(f"/apis/policy/v1/namespaces/{kubectl.namespace}/poddisruptionbudgets/web/status", EXHAUSTED)
    text = kubectl.fails("drain", node, "--force", "--ignore-daemonsets", "--timeout=1s")
    assert "Cannot evict pod as it would violate the pod's disruption budget." in text
    assert kubectl.names("pods") == ["pod/web"]


def test_drain_shows_what_it_would_evict(kubectl: Kubectl, node: str) -> None:
    output = kubectl("drain", node, "--force", "--dry-run=server")
    assert f"evicting pod {kubectl.namespace}/web (server dry run)" in output.splitlines()
    assert kubectl.names("pods") == ["pod/web"]
