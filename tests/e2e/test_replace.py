"""`kubectl replace`: PUT with the version that was read, and by force."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, POD, config_map

pytestmark = pytest.mark.e2e


def test_replace_puts_the_whole_object(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl("replace", "-f", "-", stdin=config_map("settings", only="this")) == "configmap/settings replaced"
    found = kubectl.get("cm", "settings")
    assert found["data"] == {"only": "this"}
    assert "labels" not in found["metadata"]


def test_replace_needs_the_object(kubectl: Kubectl) -> None:
    message = kubectl.fails("replace", "-f", "-", stdin=CONFIG_MAP)
    assert message == 'Error from server (NotFound): error when replacing "STDIN": configmaps "settings" not found'


def test_replace_with_an_old_version_conflicts(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    old = kubectl("get", "cm", "settings", "-o", "yaml")
    kubectl("annotate", "cm", "settings", "touched=yes")
    assert kubectl.fails("replace", "-f", "-", stdin=old) == (
        'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps '
        '"settings": the object has been modified; please apply your changes to the latest version and try again'
    )


def test_replace_by_force_makes_a_new_object(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=POD)
    uid = kubectl.get("pod", "web")["metadata"]["uid"]
    done = kubectl("replace", "--force", "-f", "-", stdin=POD.replace("nginx:1.27", "nginx:1.28"))
    assert done.splitlines() == ['pod "web" deleted', "pod/web replaced"]
    found = kubectl.get("pod", "web")
    assert found["metadata"]["uid"] != uid
    assert found["spec"]["containers"][0]["image"] == "nginx:1.28"


def test_replace_of_what_cannot_change_is_refused(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=POD)
    message = kubectl.fails("replace", "-f", "-", stdin=POD.replace("name: nginx", "name: other"))
    assert message.startswith('The Pod "web" is invalid: ')
    assert "pod updates may not change fields other than" in message


def test_replace_of_the_status_subresource(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    status = DEPLOYMENT.replace("replicas: 2", "replicas: 9") + "status:\n  replicas: 4\n"
    done = kubectl("replace", "--subresource", "status", "-f", "-", stdin=status)
    assert done == "deployment.apps/web replaced"
    found = kubectl.get("deployment", "web")
    assert (found["spec"]["replicas"], found["status"]["replicas"]) == (2, 4)


def test_raw_replace_puts_a_file_on_a_path(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"raw":"yes"}}'
    kubectl("replace", "--raw", f"/api/v1/namespaces/{namespace}/configmaps/settings", "-f", "-", stdin=body)
    assert kubectl.get("cm", "settings")["data"] == {"raw": "yes"}
