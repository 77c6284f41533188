"""`kubectl set`: image, env, resources, selector, serviceaccount, subject."""

from typing import Any

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, SERVICE

pytestmark = pytest.mark.e2e


@pytest.fixture
def deployed(kubectl: Kubectl) -> Kubectl:
    """A namespace with the deployment `web`."""
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    return kubectl


def container(kubectl: Kubectl) -> dict[str, Any]:
    """The only container of the deployment."""
    (found,) = kubectl.get("deployment", "web")["spec"]["template"]["spec"]["containers"]
    return dict(found)


def test_image(deployed: Kubectl) -> None:
    assert deployed("set", "image", "deployment/web", "nginx=nginx:2") == "deployment.apps/web image updated"
    assert container(deployed)["image"] == "nginx:2"
    assert deployed.get("deployment", "web")["metadata"]["generation"] == 2
    deployed("set", "image", "deployments", "*=nginx:3", "--all")
    assert container(deployed)["image"] == "nginx:3"


def test_image_of_a_container_that_is_not_there(deployed: Kubectl) -> None:
    message = deployed.fails("set", "image", "deployment/web", "other=nginx:2")
    assert message == 'error: unable to find container named "other"'


def test_env(deployed: Kubectl) -> None:
    assert deployed("set", "env", "deployment/web", "A=1", "B=2") == "deployment.apps/web env updated"
    assert container(deployed)["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    deployed("set", "env", "deployment/web", "A-")
    assert container(deployed)["env"] == [{"name": "B", "value": "2"}]
    assert deployed("set", "env", "deployment/web", "--list").splitlines()[-1] == "B=2"


def test_env_from_a_configmap(deployed: Kubectl) -> None:
    deployed("create", "-f", "-", stdin=CONFIG_MAP)
    deployed("set", "env", "deployment/web", "--from=configmap/settings", "--keys=colour", "--prefix=MY_")
    reference = {"configMapKeyRef": {"key": "colour", "name": "settings"}}
    assert container(deployed)["env"] == [{"name": "MY_COLOUR", "valueFrom": reference}]
    resolved = deployed("set", "env", "deployment/web", "--list", "--resolve")
    assert "MY_COLOUR=blue" in resolved


def test_resources(deployed: Kubectl) -> None:
    done = deployed("set", "resources", "deployment/web", "--limits=cpu=200m,memory=512Mi", "--requests=cpu=100m")
    assert done == "deployment.apps/web resource requirements updated"
    assert container(deployed)["resources"] == {
        "limits": {"cpu": "200m", "memory": "512Mi"},
        "requests": {"cpu": "100m"},
    }


def test_selector(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=SERVICE)
    assert kubectl("set", "selector", "service", "web", "app=api,tier=back") == "service/web selector updated"
    assert kubectl.get("svc", "web")["spec"]["selector"] == {"app": "api", "tier": "back"}


def test_serviceaccount(deployed: Kubectl) -> None:
    assert deployed("set", "sa", "deployment", "web", "robot") == "deployment.apps/web serviceaccount updated"
    assert deployed.get("deployment", "web")["spec"]["template"]["spec"]["serviceAccountName"] == "robot"


def test_subject(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "rolebinding", "made", "--role=x", "--user=eve")
    done = kubectl("set", "subject", "rolebinding", "made", "--group=ops", f"--serviceaccount={namespace}:robot")
    assert done == "rolebinding.rbac.authorization.k8s.io/made subjects updated"
    subjects = kubectl.get("rolebinding", "made")["subjects"]
    assert sorted((s["kind"], s["name"]) for s in subjects) == [
        ("Group", "ops"),
        ("ServiceAccount", "robot"),
        ("User", "eve"),
    ]


def test_dry_run_of_the_server_sets_nothing(deployed: Kubectl) -> None:
    done = deployed("set", "image", "deployment/web", "nginx=nginx:2", "--dry-run=server")
    assert done == "deployment.apps/web image updated (server dry run)"
    assert container(deployed)["image"] == "nginx:1.27"
