"""`kubectl create -f`: files, folders, stdin, generated names, and the messages of refusals."""

import json
from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, POD, config_map, documents

pytestmark = pytest.mark.e2e


def test_create_from_stdin(kubectl: Kubectl) -> None:
    assert kubectl("create", "-f", "-", stdin=CONFIG_MAP) == "configmap/settings created"
    assert kubectl.get("cm", "settings")["data"] == {"colour": "blue", "size": "large"}


def test_create_from_json(kubectl: Kubectl) -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "stringData": {"token": "abc"}}
    assert kubectl("create", "-f", "-", stdin=json.dumps(body)) == "secret/key created"
    found = kubectl.get("secret", "key")
    assert (found["type"], found["data"]) == ("Opaque", {"token": "YWJj"})
    assert "stringData" not in found


def test_create_from_a_folder(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG_MAP)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "b.yaml").write_text(POD)
    assert kubectl("create", "-f", str(tmp_path)) == "configmap/settings created"
    kubectl("delete", "cm", "settings")
    assert kubectl("create", "-R", "-f", str(tmp_path)).splitlines() == [
        "configmap/settings created",
        "pod/web created",
    ]


def test_a_list_is_created_item_by_item(kubectl: Kubectl) -> None:
    items = [json.loads(kubectl("create", "cm", name, "--dry-run=client", "-o", "json")) for name in ("a", "b")]
    body = {"apiVersion": "v1", "kind": "List", "items": items}
    assert kubectl("create", "-f", "-", stdin=json.dumps(body)).splitlines() == [
        "configmap/a created",
        "configmap/b created",
    ]


def test_an_existing_object_is_not_created_again(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    message = kubectl.fails("create", "-f", "-", stdin=CONFIG_MAP)
    assert message == (
        'Error from server (AlreadyExists): error when creating "STDIN": configmaps "settings" already exists'
    )


def test_names_are_generated(kubectl: Kubectl) -> None:
    manifest = CONFIG_MAP.replace("name: settings", "generateName: run-")
    first, second = (kubectl("create", "-f", "-", "-o", "name", stdin=manifest) for _ in range(2))
    assert first != second
    assert all(name.startswith("configmap/run-") and len(name) == len("configmap/run-") + 5 for name in (first, second))


def test_output_is_the_object_of_the_server(kubectl: Kubectl, namespace: str) -> None:
    made = json.loads(kubectl("create", "-f", "-", "-o", "json", stdin=POD))
    assert made["metadata"]["namespace"] == namespace
    assert made["metadata"]["uid"]
    assert made["spec"]["restartPolicy"] == "Always"
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


@pytest.mark.parametrize("dry_run", ["client", "server"])
def test_dry_runs_create_nothing(kubectl: Kubectl, dry_run: str) -> None:
    done = kubectl("create", "-f", "-", f"--dry-run={dry_run}", stdin=CONFIG_MAP)
    assert done == f"configmap/settings created ({'server dry run' if dry_run == 'server' else 'dry run'})"
    assert kubectl.names("cm") == []


def test_dry_run_of_the_server_shows_defaults(kubectl: Kubectl) -> None:
    made = json.loads(kubectl("create", "-f", "-", "--dry-run=server", "-o", "json", stdin=DEPLOYMENT))
    assert made["spec"]["progressDeadlineSeconds"] == 600
    assert made["metadata"]["uid"]


def test_unknown_fields_are_refused(kubectl: Kubectl) -> None:
    manifest = DEPLOYMENT.replace("replicas: 2", "replica: 2").replace("image:", "imag:")
    assert kubectl.fails("create", "-f", "-", stdin=manifest) == (
        'Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot be handled as '
        'a Deployment: strict decoding error: unknown field "spec.replica", unknown field '
        '"spec.template.spec.containers[0].imag"'
    )


def test_unknown_fields_are_warned_about(kubectl: Kubectl) -> None:
    manifest = DEPLOYMENT.replace("replicas: 2", "replica: 2")
    done = kubectl.run("create", "--validate=warn", "-f", "-", stdin=manifest)
    assert done.returncode == 0
    assert done.stderr == 'Warning: unknown field "spec.replica"\n'
    assert kubectl.get("deployment", "web")["spec"]["replicas"] == 1


def test_unknown_fields_are_ignored(kubectl: Kubectl) -> None:
    manifest = DEPLOYMENT.replace("replicas: 2", "replica: 2")
    done = kubectl.run("create", "--validate=false", "-f", "-", stdin=manifest)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_value_of_the_wrong_type_is_refused(kubectl: Kubectl) -> None:
    message = kubectl.fails("create", "-f", "-", stdin=DEPLOYMENT.replace("replicas: 2", "replicas: two"))
    assert message == (
        'Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot be handled as '
        "a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
    )


def test_an_invalid_object_is_refused_with_all_its_faults(kubectl: Kubectl) -> None:
    manifest = POD.replace("name: web", "name: Web_1").replace("image: nginx:1.27", "image: ''")
    message = kubectl.fails("create", "-f", "-", stdin=manifest)
    assert message.startswith('The Pod "Web_1" is invalid: ')
    assert '* metadata.name: Invalid value: "Web_1": a lowercase RFC 1123 subdomain must consist of' in message
    assert "* spec.containers[0].image: Required value" in message


def test_a_kind_that_is_not_served_is_not_matched(kubectl: Kubectl) -> None:
    message = kubectl.fails("create", "-f", "-", stdin="apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: g}\n")
    assert message == (
        'error: resource mapping not found for name: "g" namespace: "" from "STDIN": no matches for kind "Gizmo" in '
        'version "example.com/v1"\nensure CRDs are installed first'
    )


def test_a_namespace_that_is_not_there_is_an_error(kubectl: Kubectl) -> None:
    message = kubectl.fails("create", "-n", "nowhere", "-f", "-", stdin=CONFIG_MAP)
    assert message == 'Error from server (NotFound): error when creating "STDIN": namespaces "nowhere" not found'


def test_the_namespaces_of_file_and_command_have_to_agree(kubectl: Kubectl) -> None:
    manifest = CONFIG_MAP.replace("metadata:", "metadata:\n  namespace: elsewhere")
    message = kubectl.fails("create", "-f", "-", stdin=manifest)
    assert "the namespace from the provided object" in message


def test_valid_objects_are_created_next_to_an_invalid_one(kubectl: Kubectl) -> None:
    bad = config_map("Bad")
    done = kubectl.run("create", "-f", "-", stdin=documents(CONFIG_MAP, bad, POD))
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["configmap/settings created", "pod/web created"]
    assert 'The ConfigMap "Bad" is invalid: metadata.name: Invalid value: "Bad"' in done.stderr


def test_raw_create_posts_a_file_to_a_path(kubectl: Kubectl, namespace: str) -> None:
    body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"raw"}}'
    response = json.loads(
        kubectl("create", "--raw", f"/api/v1/namespaces/{namespace}/configmaps", "-f", "-", stdin=body)
    )
    assert response["metadata"]["name"] == "raw"


def test_the_manager_is_kubectl_create(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    (entry,) = kubectl.get("cm", "settings", "--show-managed-fields")["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"], entry["apiVersion"]) == ("kubectl-create", "Update", "v1")


def test_save_config_allows_a_later_apply(kubectl: Kubectl) -> None:
    kubectl("create", "--save-config", "-f", "-", stdin=CONFIG_MAP)
    done = kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP.replace("blue", "green"))
    assert (done.stdout, done.stderr) == ("configmap/settings configured\n", "")


def test_create_edits_before_it_creates(kubectl: Kubectl, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/blue/violet/' \"$1\"\n")
    editor.chmod(0o755)
    kubectl.with_environment(EDITOR=str(editor))("create", "--edit", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl.get("cm", "settings")["data"]["colour"] == "violet"
