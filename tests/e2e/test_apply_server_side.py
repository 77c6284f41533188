"""`kubectl apply --server-side`: owners, conflicts, and the way from client-side apply."""

from typing import Any

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT

pytestmark = pytest.mark.e2e


def managers(kubectl: Kubectl, *name: str) -> list[tuple[str, str]]:
    """Return the managers of an object's fields, each with its operation."""
    fields = kubectl.get(*name, "--show-managed-fields")["metadata"]["managedFields"]
    return [(entry["manager"], entry["operation"]) for entry in fields]


def owned(kubectl: Kubectl, manager: str, *name: str) -> Any:
    """The fields of a manager that applies."""
    fields = kubectl.get(*name, "--show-managed-fields")["metadata"]["managedFields"]
    return next(e["fieldsV1"] for e in fields if e["manager"] == manager and e["operation"] == "Apply")


def test_apply_creates_and_owns(kubectl: Kubectl) -> None:
    assert kubectl.apply(CONFIG_MAP, "--server-side") == "configmap/settings serverside-applied"
    assert managers(kubectl, "cm", "settings") == [("kubectl", "Apply")]
    assert owned(kubectl, "kubectl", "cm", "settings") == {
        "f:data": {"f:colour": {}, "f:size": {}},
        "f:metadata": {"f:labels": {"f:app": {}}},
    }
    assert "annotations" not in kubectl.get("cm", "settings")["metadata"]


def test_applying_again_changes_nothing(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT, "--server-side")
    version = kubectl.get("deploy", "web")["metadata"]["resourceVersion"]
    kubectl.apply(DEPLOYMENT, "--server-side")
    assert kubectl.get("deploy", "web")["metadata"]["resourceVersion"] == version


def test_a_field_that_is_no_longer_applied_is_removed(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP, "--server-side")
    kubectl.apply(CONFIG_MAP.replace("  size: large\n", ""), "--server-side")
    assert kubectl.get("cm", "settings")["data"] == {"colour": "blue"}


def test_another_manager_conflicts_and_is_ended_with_an_error(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP, "--server-side")
    message = kubectl.fails(
        "apply", "--server-side", "--field-manager=other", "-f", "-", stdin=CONFIG_MAP.replace("blue", "green")
    )
    assert message == (
        'error: Apply failed with 1 conflict: conflict with "kubectl": .data.colour\n'
        "Please review the fields above--they currently have other managers. Here\n"
        "are the ways you can resolve this warning:\n"
        "* If you intend to manage all of these fields, please re-run the apply\n"
        "  command with the `--force-conflicts` flag.\n"
        "* If you do not intend to manage all of the fields, please edit your\n"
        "  manifest to remove references to the fields that should keep their\n"
        "  current managers.\n"
        "* You may co-own fields by updating your manifest to match the existing\n"
        "  value; in this case, you'll become the manager if the other manager(s)\n"
        "  stop managing the field (remove it from their configuration).\n"
        "See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"
    )
    assert kubectl.get("cm", "settings")["data"]["colour"] == "blue"


def test_several_conflicts_are_listed(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT, "--server-side")
    kubectl("set", "image", "deploy/web", "nginx=nginx:2")
    kubectl("patch", "deploy", "web", "-p", '{"spec":{"minReadySeconds":3,"replicas":8}}', "--field-manager=tuner")
    message = kubectl.fails("apply", "--server-side", "-f", "-", stdin=DEPLOYMENT)
    head = message.partition("\nPlease")[0]
    assert head.startswith("error: Apply failed with 2 conflicts: conflicts with ")
    assert 'conflicts with "kubectl-set" using apps/v1:\n- .spec.template.spec.containers[name="nginx"].image' in head
    assert 'conflicts with "tuner" using apps/v1:\n- .spec.replicas' in head


def test_force_takes_the_fields_over(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP, "--server-side")
    kubectl.apply(CONFIG_MAP.replace("blue", "green"), "--server-side", "--field-manager=other", "--force-conflicts")
    assert kubectl.get("cm", "settings")["data"]["colour"] == "green"
    assert owned(kubectl, "kubectl", "cm", "settings") == {
        "f:data": {"f:size": {}},
        "f:metadata": {"f:labels": {"f:app": {}}},
    }


def test_the_same_value_is_owned_together(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP, "--server-side")
    kubectl.apply(CONFIG_MAP, "--server-side", "--field-manager=other")
    assert set(managers(kubectl, "cm", "settings")) == {("kubectl", "Apply"), ("other", "Apply")}
    kubectl.apply(CONFIG_MAP.replace("  size: large\n", ""), "--server-side")
    assert kubectl.get("cm", "settings")["data"] == {"colour": "blue", "size": "large"}


def test_client_side_apply_is_migrated(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP)
    done = kubectl.run("apply", "--server-side", "-f", "-", stdin=CONFIG_MAP.replace("blue", "green"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "configmap/settings serverside-applied\n", "")
    assert kubectl.get("cm", "settings")["data"]["colour"] == "green"
    found = managers(kubectl, "cm", "settings")
    assert ("kubectl-client-side-apply", "Update") not in found
    assert ("kubectl", "Apply") in found
    kubectl.apply(CONFIG_MAP.replace("  size: large\n", ""), "--server-side")
    assert "size" not in kubectl.get("cm", "settings")["data"]


def test_client_side_apply_after_server_side_apply_has_no_conflict(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP, "--server-side")
    done = kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP.replace("blue", "green"))
    assert done.returncode == 0
    assert kubectl.get("cm", "settings")["data"]["colour"] == "green"


def test_dry_run_of_the_server(kubectl: Kubectl) -> None:
    done = kubectl.apply(CONFIG_MAP, "--server-side", "--dry-run=server")
    assert done == "configmap/settings serverside-applied (server dry run)"
    assert kubectl.names("cm") == []


def test_unknown_fields_are_refused(kubectl: Kubectl) -> None:
    message = kubectl.fails("apply", "--server-side", "-f", "-", stdin=DEPLOYMENT.replace("replicas: 2", "replica: 2"))
    assert message.startswith("Error from server: failed to create typed patch object (")
    assert message.endswith("; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema")


def test_an_invalid_object_is_refused(kubectl: Kubectl) -> None:
    message = kubectl.fails(
        "apply", "--server-side", "-f", "-", stdin=DEPLOYMENT.replace("replicas: 2", "replicas: -2")
    )
    assert message == (
        'The Deployment "web" is invalid: spec.replicas: Invalid value: -2: must be greater than or equal to 0'
    )


def test_doubled_list_keys_are_refused(kubectl: Kubectl) -> None:
    doubled = DEPLOYMENT + "      - name: nginx\n        image: again\n"
    message = kubectl.fails("apply", "--server-side", "-f", "-", stdin=doubled)
    assert 'duplicate entries for key [name="nginx"]' in message
