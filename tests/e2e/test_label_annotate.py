"""`kubectl label` and `kubectl annotate`."""

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, POD, documents

pytestmark = pytest.mark.e2e


@pytest.fixture
def objects(kubectl: Kubectl) -> Kubectl:
    """A namespace with the config map `settings` and the pod `web`, both with `app=web`."""
    kubectl("create", "-f", "-", stdin=documents(CONFIG_MAP, POD))
    return kubectl


def labels(kubectl: Kubectl, name: str) -> dict[str, str]:
    """The labels of an object."""
    found: dict[str, str] = kubectl.get(name)["metadata"].get("labels", {})
    return found


def annotations(kubectl: Kubectl, name: str) -> dict[str, str]:
    """The annotations of an object."""
    found: dict[str, str] = kubectl.get(name)["metadata"].get("annotations", {})
    return found


def test_labels_are_added(objects: Kubectl) -> None:
    assert objects("label", "pod", "web", "env=test", "zone=a") == "pod/web labeled"
    assert labels(objects, "pod/web") == {"app": "web", "tier": "front", "env": "test", "zone": "a"}


def test_labels_are_removed(objects: Kubectl) -> None:
    assert objects("label", "pod", "web", "tier-") == "pod/web unlabeled"
    assert labels(objects, "pod/web") == {"app": "web"}


def test_labels_are_not_overwritten_unless_called(objects: Kubectl) -> None:
    assert objects.fails("label", "pod", "web", "app=api") == (
        "error: 'app' already has a value (web), and --overwrite is false"
    )
    objects("label", "pod", "web", "app=api", "--overwrite")
    assert labels(objects, "pod/web")["app"] == "api"


def test_the_same_label_again_changes_nothing(objects: Kubectl) -> None:
    assert objects("label", "pod", "web", "app=web") == "pod/web not labeled"


def test_labels_are_listed(objects: Kubectl) -> None:
    assert sorted(objects("label", "pod", "web", "--list").splitlines()) == ["app=web", "tier=front"]


def test_all_objects_of_a_selection_are_labeled(objects: Kubectl) -> None:
    assert objects("label", "cm,pods", "-l", "app=web", "seen=yes").splitlines() == [
        "configmap/settings labeled",
        "pod/web labeled",
    ]
    assert objects.names("cm,pods", "-l", "seen") == ["configmap/settings", "pod/web"]


def test_a_label_with_a_stale_version_conflicts(objects: Kubectl) -> None:
    version = objects.get("cm", "settings")["metadata"]["resourceVersion"]
    objects("label", "cm", "settings", "a=1", "--resource-version", version)
    message = objects.fails("label", "cm", "settings", "b=1", "--resource-version", version)
    assert message.startswith('Error from server (Conflict): Operation cannot be fulfilled on configmaps "settings": ')
    assert "the object has been modified" in message


def test_invalid_labels_are_refused(objects: Kubectl) -> None:
    patch = '{"metadata":{"labels":{"a":"not valid"}}}'
    message = objects.fails("patch", "pod", "web", "-p", patch)
    assert message.startswith('The Pod "web" is invalid: metadata.labels: Invalid value: "not valid": a valid label')


def test_annotations_are_added_changed_and_removed(objects: Kubectl) -> None:
    assert objects("annotate", "cm", "settings", "note=some words") == "configmap/settings annotated"
    assert annotations(objects, "cm/settings") == {"note": "some words"}
    assert objects.fails("annotate", "cm", "settings", "note=others").startswith("error: --overwrite is false but")
    objects("annotate", "cm", "settings", "note=others", "--overwrite")
    assert annotations(objects, "cm/settings") == {"note": "others"}
    objects("annotate", "cm", "settings", "note-")
    assert annotations(objects, "cm/settings") == {}


def test_dry_run_of_the_server_annotates_nothing(objects: Kubectl) -> None:
    done = objects("annotate", "cm", "settings", "note=x", "--dry-run=server")
    assert done == "configmap/settings annotated (server dry run)"
    assert annotations(objects, "cm/settings") == {}


def test_the_manager_of_a_label_is_kubectl_label(objects: Kubectl) -> None:
    objects("label", "cm", "settings", "a=1")
    found = objects.get("cm", "settings", "--show-managed-fields")["metadata"]["managedFields"]
    assert [(entry["manager"], entry["operation"]) for entry in found] == [
        ("kubectl-create", "Update"),
        ("kubectl-label", "Update"),
    ]
    assert found[1]["fieldsV1"] == {"f:metadata": {"f:labels": {"f:a": {}}}}
