"""`kubectl scale` and `kubectl autoscale`."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT

pytestmark = pytest.mark.e2e

CONTROLLERS = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: db}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: set}
spec:
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec: {containers: [{name: set, image: set}]}
---
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  selector: {app: old}
  template:
    metadata: {labels: {app: old}}
    spec: {containers: [{name: old, image: old}]}
"""


@pytest.fixture
def deployed(kubectl: Kubectl) -> Kubectl:
    """A namespace with the deployment `web` of two replicas."""
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    return kubectl


def replicas(kubectl: Kubectl, name: str) -> int:
    """Return the desired replicas of an object."""
    return int(kubectl("get", name, "-o", "jsonpath={.spec.replicas}"))


def test_scale_sets_the_replicas(deployed: Kubectl) -> None:
    assert deployed("scale", "deployment", "web", "--replicas=5") == "deployment.apps/web scaled"
    assert replicas(deployed, "deployment/web") == 5
    deployed("scale", "deployment/web", "--replicas=0")
    assert replicas(deployed, "deployment/web") == 0


def test_scale_with_the_current_number_as_condition(deployed: Kubectl) -> None:
    assert deployed("scale", "deploy/web", "--current-replicas=2", "--replicas=3") == "deployment.apps/web scaled"
    message = deployed.fails("scale", "deploy/web", "--current-replicas=2", "--replicas=4")
    assert message == "error: Expected replicas to be 2, was 3"
    assert replicas(deployed, "deploy/web") == 3


def test_scale_with_a_version_as_condition(deployed: Kubectl) -> None:
    version = deployed.get("deploy", "web")["metadata"]["resourceVersion"]
    deployed("scale", "deploy/web", "--resource-version", version, "--replicas=3")
    assert "Expected resource version" in deployed.fails(
        "scale", "deploy/web", "--resource-version", version, "--replicas=4"
    )


@pytest.mark.parametrize("name", ["statefulset/db", "replicaset/set", "replicationcontroller/old"])
def test_everything_with_replicas_scales(kubectl: Kubectl, name: str) -> None:
    kubectl("create", "-f", "-", stdin=CONTROLLERS)
    assert replicas(kubectl, name) == 1
    assert kubectl("scale", name, "--replicas=4").endswith(" scaled")
    assert replicas(kubectl, name) == 4


def test_several_are_scaled_at_once(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONTROLLERS)
    kubectl("scale", "rs/set", "rc/old", "--replicas=2")
    assert [replicas(kubectl, name) for name in ("rs/set", "rc/old", "sts/db")] == [2, 2, 1]


def test_an_object_without_replicas_cannot_be_scaled(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    message = kubectl.fails("scale", "cm/settings", "--replicas=2")
    assert "the server could not find the requested resource" in message


def test_scaling_what_is_not_there(kubectl: Kubectl) -> None:
    message = kubectl.fails("scale", "deploy/nope", "--replicas=2")
    assert message.startswith("error: no objects passed to scale")


def test_autoscale_makes_an_autoscaler(deployed: Kubectl) -> None:
    done = deployed("autoscale", "deployment", "web", "--min=2", "--max=6", "--cpu-percent=70")
    assert done == "horizontalpodautoscaler.autoscaling/web autoscaled"
    spec = deployed.get("horizontalpodautoscalers.v2.autoscaling", "web")["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (2, 6)
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    assert spec["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}
    ]
    assert (
        deployed.get("horizontalpodautoscalers.v1.autoscaling", "web")["spec"]["targetCPUUtilizationPercentage"] == 70
    )
    header, row = deployed("get", "hpa").splitlines()
    assert header.split() == ["NAME", "REFERENCE", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "AGE"]
    assert row.startswith("web    Deployment/web   cpu: <unknown>/70%   2         6         0 ")
