"""`kubectl patch`: the three kinds of patch, subresources, and what is refused."""

from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT

pytestmark = pytest.mark.e2e


@pytest.fixture
def deployed(kubectl: Kubectl) -> Kubectl:
    """A namespace with the deployment `web`."""
    kubectl("create", "-f", "-", stdin=DEPLOYMENT)
    return kubectl


def test_strategic_merge_is_the_default_and_merges_containers_by_name(deployed: Kubectl) -> None:
    patch = '{"spec":{"template":{"spec":{"containers":[{"name":"log","image":"busybox"}]}}}}'
    assert deployed("patch", "deployment", "web", "-p", patch) == "deployment.apps/web patched"
    containers = deployed.get("deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert [container["name"] for container in containers] == ["log", "nginx"]


def test_strategic_merge_can_be_written_in_yaml(deployed: Kubectl) -> None:
    deployed("patch", "deployment", "web", "-p", "spec:\n  strategy:\n    $retainKeys: [type]\n    type: Recreate\n")
    assert deployed.get("deployment", "web")["spec"]["strategy"] == {"type": "Recreate"}


def test_merge_patch_replaces_lists_and_null_removes(deployed: Kubectl) -> None:
    patch = '{"metadata":{"labels":{"app":null,"tier":"front"}},"spec":{"replicas":5}}'
    assert deployed("patch", "deployment", "web", "--type", "merge", "-p", patch) == "deployment.apps/web patched"
    found = deployed.get("deployment", "web")
    assert found["metadata"]["labels"] == {"tier": "front"}
    assert found["spec"]["replicas"] == 5


def test_json_patch_tests_and_replaces(deployed: Kubectl) -> None:
    patch = '[{"op":"test","path":"/spec/replicas","value":2},{"op":"replace","path":"/spec/replicas","value":3}]'
    assert deployed("patch", "deployment", "web", "--type", "json", "-p", patch) == "deployment.apps/web patched"
    assert deployed.get("deployment", "web")["spec"]["replicas"] == 3
    message = deployed.fails("patch", "deployment", "web", "--type", "json", "-p", patch)
    assert message == "The request is invalid: the server rejected our request due to an error in our request"


def test_a_patch_that_changes_nothing_is_reported(deployed: Kubectl) -> None:
    version = deployed.get("deployment", "web")["metadata"]["resourceVersion"]
    done = deployed("patch", "deployment", "web", "-p", '{"spec":{"replicas":2}}')
    assert done == "deployment.apps/web patched (no change)"
    assert deployed.get("deployment", "web")["metadata"]["resourceVersion"] == version


def test_status_is_patched_through_its_subresource(deployed: Kubectl) -> None:
    patch = '{"spec":{"replicas":9},"status":{"replicas":2,"readyReplicas":1}}'
    done = deployed("patch", "deployment", "web", "--subresource", "status", "--type", "merge", "-p", patch)
    assert done == "deployment.apps/web patched"
    found = deployed.get("deployment", "web")
    assert (found["spec"]["replicas"], found["status"]) == (2, {"replicas": 2, "readyReplicas": 1})
    assert deployed("get", "deployment", "web", "--no-headers").split()[1] == "1/2"


def test_scale_is_patched_through_its_subresource(deployed: Kubectl) -> None:
    patch = '{"spec":{"replicas":7}}'
    done = deployed("patch", "deployment", "web", "--subresource", "scale", "--type", "merge", "-p", patch)
    assert done == "scale.autoscaling/web patched"
    assert deployed.get("deployment", "web")["spec"]["replicas"] == 7


def test_dry_run_of_the_server_leaves_the_object(deployed: Kubectl) -> None:
    patch = '{"spec":{"replicas":7}}'
    replicas = deployed(
        "patch", "deployment", "web", "-p", patch, "--dry-run=server", "-o", "jsonpath={.spec.replicas}"
    )
    assert replicas == "7"
    assert deployed.get("deployment", "web")["spec"]["replicas"] == 2


def test_a_patch_to_an_invalid_object_is_refused(deployed: Kubectl) -> None:
    message = deployed.fails("patch", "deployment", "web", "-p", '{"spec":{"replicas":-1}}')
    assert message == (
        'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )


def test_immutable_fields_stay(deployed: Kubectl) -> None:
    patch = '[{"op":"replace","path":"/spec/selector/matchLabels","value":{"app":"other"}}]'
    message = deployed.fails("patch", "deployment", "web", "--type", "json", "-p", patch)
    assert message.startswith('The Deployment "web" is invalid: ')
    assert "`selector` does not match template `labels`" in message
    assert "spec.selector: Invalid value: " in message
    assert "field is immutable" in message


def test_patching_what_does_not_exist_is_an_error(kubectl: Kubectl) -> None:
    message = kubectl.fails("patch", "cm", "nope", "-p", "{}")
    assert message == 'Error from server (NotFound): configmaps "nope" not found'


def test_patch_from_a_file_goes_to_the_objects_of_files(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "patch.yaml").write_text("data:\n  colour: green\n")
    (tmp_path / "object.yaml").write_text(CONFIG_MAP)
    kubectl("create", "-f", str(tmp_path / "object.yaml"))
    kubectl("patch", "-f", str(tmp_path / "object.yaml"), "--patch-file", str(tmp_path / "patch.yaml"))
    assert kubectl.get("cm", "settings")["data"] == {"colour": "green", "size": "large"}


def test_unknown_fields_of_a_patch_are_warned_about(deployed: Kubectl) -> None:
    done = deployed.run("patch", "deployment", "web", "--type", "merge", "-p", '{"spec":{"replica":7}}')
    assert done.returncode == 0
    assert 'Warning: unknown field "spec.replica"' in done.stderr
