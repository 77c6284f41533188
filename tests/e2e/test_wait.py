"""`kubectl wait`: conditions, JSON paths, creation and deletion."""

import pytest

from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, POD

pytestmark = pytest.mark.e2e

READY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


@pytest.fixture
def pod(kubectl: Kubectl, namespace: str) -> str:
    """The path of a pod's status."""
    kubectl("create", "-f", "-", stdin=POD)
    return f"/api/v1/namespaces/{namespace}/pods/web/status"


def test_a_condition_that_holds(kubectl: Kubectl, api: Api, pod: str) -> None:
    api.patch(pod, READY)
    assert kubectl("wait", "pod/web", "--for=condition=Ready", "--timeout=60s") == "pod/web condition met"


def test_a_condition_that_comes(kubectl: Kubectl, api: Api, pod: str) -> None:
    with kubectl.started("wait", "pod/web", "--for=condition=ready=true", "--timeout=30s", "-v", "6") as waiting:
        waiting.logged("watch=true")
        api.patch(pod, READY)
        assert waiting.line() == "pod/web condition met"
        assert waiting.finish()[0] == 0


def test_a_condition_that_does_not_come(kubectl: Kubectl, pod: str) -> None:
    message = kubectl.fails("wait", "pod/web", "--for=condition=Ready", "--timeout=1s")
    assert message.endswith("error: timed out waiting for the condition on pods/web")


def test_a_json_path(kubectl: Kubectl, api: Api, pod: str) -> None:
    with kubectl.started("wait", "pod/web", "--for=jsonpath={.status.phase}=Running", "-v", "6") as waiting:
        waiting.logged("watch=true")
        api.patch(pod, READY)
        assert waiting.line() == "pod/web condition met"


def test_a_deletion(kubectl: Kubectl, api: Api, namespace: str) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    with kubectl.started("wait", "cm/settings", "--for=delete", "--timeout=30s", "-v", "6") as waiting:
        waiting.logged("watch=true")
        api.request("DELETE", f"/api/v1/namespaces/{namespace}/configmaps/settings")
        assert waiting.line() == "configmap/settings condition met"


def test_a_creation(kubectl: Kubectl) -> None:
    with kubectl.started("wait", "cm/settings", "--for=create", "--timeout=30s", "-v", "6") as waiting:
        waiting.logged("/configmaps")
        kubectl("create", "-f", "-", stdin=CONFIG_MAP)
        assert waiting.line() == "configmap/settings condition met"


def test_objects_by_labels(kubectl: Kubectl, api: Api, pod: str) -> None:
    api.patch(pod, READY)
    assert kubectl("wait", "pods", "-l", "app=web", "--for=condition=Ready") == "pod/web condition met"
    assert (
        kubectl.fails("wait", "pods", "-l", "app=nope", "--for=condition=Ready") == "error: no matching resources found"
    )
