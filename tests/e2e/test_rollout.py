"""`kubectl rollout`, with the ReplicaSets that a controller would have made written by hand."""

import json
from typing import Any

import pytest

from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import DEPLOYMENT

pytestmark = pytest.mark.e2e

REVISION = "deployment.kubernetes.io/revision"


def replica_set(deployment: dict[str, Any], revision: int, image: str) -> dict[str, Any]:
    """The ReplicaSet of a revision of the deployment."""
    template = json.loads(json.dumps(deployment["spec"]["template"]))
    template["metadata"]["labels"]["pod-template-hash"] = f"h{revision}"
    template["spec"]["containers"][0]["image"] = image
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"web-{revision}",
            "labels": template["metadata"]["labels"],
            "annotations": {REVISION: str(revision), "kubernetes.io/change-cause": f"to {image}"},
            "ownerReferences": [{**owner, "uid": deployment["metadata"]["uid"]}],
        },
        "spec": {"selector": {"matchLabels": template["metadata"]["labels"]}, "template": template},
    }


@pytest.fixture
def rolled(kubectl: Kubectl) -> Kubectl:
    """A deployment with two revisions: nginx:1 and nginx:1.27."""
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    kubectl("annotate", "deployment", "web", f"{REVISION}=2")
    deployment = kubectl.get("deployment", "web")
    for revision, image in ((1, "nginx:1"), (2, "nginx:1.27")):
        kubectl("create", "-f", "-", stdin=json.dumps(replica_set(deployment, revision, image)))
    return kubectl


def image(kubectl: Kubectl) -> str:
    """The image of the deployment."""
    return kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}")


def test_history_lists_the_revisions(rolled: Kubectl) -> None:
    lines = rolled("rollout", "history", "deployment/web").splitlines()
    assert lines[0] == "deployment.apps/web "
    assert [line.split(maxsplit=1) for line in lines[1:]] == [
        ["REVISION", "CHANGE-CAUSE"],
        ["1", "to nginx:1"],
        ["2", "to nginx:1.27"],
    ]


def test_history_shows_a_revision(rolled: Kubectl) -> None:
    text = rolled("rollout", "history", "deployment/web", "--revision=1")
    assert "with revision #1" in text
    assert "nginx:1\n" in text


def test_undo_takes_the_template_of_the_revision_before(rolled: Kubectl) -> None:
    assert rolled("rollout", "undo", "deployment/web") == "deployment.apps/web rolled back"
    found = rolled.get("deployment", "web")
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:1"
    assert found["spec"]["template"]["metadata"]["labels"] == {"app": "web"}


def test_undo_to_a_revision(rolled: Kubectl) -> None:
    rolled("rollout", "undo", "deployment/web", "--to-revision=1")
    assert image(rolled) == "nginx:1"
    assert "skipped rollback" in rolled("rollout", "undo", "deployment/web", "--to-revision=1")
    message = rolled.fails("rollout", "undo", "deployment/web", "--to-revision=9")
    assert message == "error: unable to find specified revision 9 in history"


def test_restart_stamps_the_template(rolled: Kubectl) -> None:
    assert rolled("rollout", "restart", "deployment/web") == "deployment.apps/web restarted"
    found = rolled.get("deployment", "web")
    assert "kubectl.kubernetes.io/restartedAt" in found["spec"]["template"]["metadata"]["annotations"]
    assert found["metadata"]["generation"] == 3


def test_pause_and_resume(rolled: Kubectl) -> None:
    assert rolled("rollout", "pause", "deployment/web") == "deployment.apps/web paused"
    assert rolled.get("deployment", "web")["spec"]["paused"] is True
    assert rolled.fails("rollout", "pause", "deployment/web") == 'error: deployments.apps "web" is already paused'
    assert rolled.fails("rollout", "restart", "deployment/web").startswith("error: deployments.apps")
    assert rolled("rollout", "resume", "deployment/web") == "deployment.apps/web resumed"
    assert "paused" not in rolled.get("deployment", "web")["spec"]


def test_status_waits_for_the_controller(rolled: Kubectl, api: Api, namespace: str) -> None:
    with rolled.started("rollout", "status", "deployment/web") as status:
        assert status.line() == "Waiting for deployment spec update to be observed..."
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web/status"
        ready = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 1}
        api.patch(path, {"status": {"observedGeneration": 2, **ready}})
        assert (
            status.line() == 'Waiting for deployment "web" rollout to finish: 1 of 2 updated replicas are available...'
        )
        api.patch(path, {"status": {"availableReplicas": 2}})
        assert status.finish() == (0, 'deployment "web" successfully rolled out')


def test_statefulsets_and_daemonsets_restart(kubectl: Kubectl) -> None:
    daemon = DEPLOYMENT.replace("kind: Deployment", "kind: DaemonSet").replace("  replicas: 2\n", "")
    kubectl("create", "-f", "-", stdin=daemon)
    assert kubectl("rollout", "restart", "daemonset/web") == "daemonset.apps/web restarted"
    assert kubectl("rollout", "history", "daemonset/web").splitlines()[0] == "daemonset.apps/web "
