"""`kubectl apply` as the client does it: three-way patches against the last configuration."""

import json
from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, POD, SERVICE, config_map, documents

pytestmark = pytest.mark.e2e

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def test_apply_creates_configures_and_leaves_alone(kubectl: Kubectl) -> None:
    assert kubectl.apply(DEPLOYMENT) == "deployment.apps/web created"
    assert kubectl.apply(DEPLOYMENT) == "deployment.apps/web unchanged"
    assert kubectl.apply(DEPLOYMENT.replace("replicas: 2", "replicas: 3")) == "deployment.apps/web configured"
    found = kubectl.get("deployment", "web")
    assert found["spec"]["replicas"] == 3
    assert json.loads(found["metadata"]["annotations"][LAST_APPLIED])["spec"]["replicas"] == 3


@pytest.mark.parametrize("manifest", [CONFIG_MAP, POD, DEPLOYMENT, SERVICE], ids=["configmap", "pod", "deploy", "svc"])
def test_the_same_manifest_again_changes_nothing(kubectl: Kubectl, manifest: str) -> None:
    kubectl.apply(manifest)
    before = kubectl("get", "-f", "-", "-o", "json", "--show-managed-fields", stdin=manifest)
    assert kubectl.apply(manifest).endswith(" unchanged")
    assert kubectl("get", "-f", "-", "-o", "json", "--show-managed-fields", stdin=manifest) == before


def test_a_field_that_leaves_the_manifest_leaves_the_object(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP)
    kubectl("patch", "cm", "settings", "-p", '{"data":{"own":"kept"}}')
    kubectl.apply(CONFIG_MAP.replace("  size: large\n", ""))
    assert kubectl.get("cm", "settings")["data"] == {"colour": "blue", "own": "kept"}


def test_a_field_that_is_not_in_the_manifest_stays(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT.replace("  replicas: 2\n", ""))
    kubectl("scale", "deploy/web", "--replicas=7")
    kubectl.apply(DEPLOYMENT.replace("  replicas: 2\n", "").replace("nginx:1.27", "nginx:1.28"))
    spec = kubectl.get("deploy", "web")["spec"]
    assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (7, "nginx:1.28")


def test_lists_merge_by_their_key(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    added = '{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","image":"busybox"}]}}}}'
    kubectl("patch", "deploy", "web", "-p", added)
    kubectl.apply(DEPLOYMENT.replace("nginx:1.27", "nginx:1.28"))
    containers = kubectl.get("deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert {c["name"]: c["image"] for c in containers} == {"nginx": "nginx:1.28", "sidecar": "busybox"}


def test_an_object_without_the_annotation_is_taken_over_with_a_warning(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    done = kubectl.run("apply", "-f", "-", stdin=CONFIG_MAP.replace("blue", "green"))
    assert done.stdout == "configmap/settings configured\n"
    assert f"is missing the {LAST_APPLIED} annotation which is required by kubectl apply" in done.stderr


def test_unknown_fields_are_refused(kubectl: Kubectl) -> None:
    message = kubectl.fails("apply", "-f", "-", stdin=DEPLOYMENT.replace("replicas: 2", "replica: 2"))
    assert message == (
        'Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1" cannot be handled as '
        'a Deployment: strict decoding error: unknown field "spec.replica"'
    )


def test_unknown_fields_of_a_patch_are_refused(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    message = kubectl.fails("apply", "-f", "-", stdin=DEPLOYMENT.replace("replicas: 2", "replica: 2"))
    assert message.startswith('The request is invalid: patch: Invalid value: "map[metadata:map[annotations:map[')
    assert message.endswith(
        ' spec:map[replica:2 replicas:<nil>]]": strict decoding error: unknown field "spec.replica"'
    )


def test_dry_run_of_the_server_changes_nothing(kubectl: Kubectl) -> None:
    done = kubectl.apply(documents(CONFIG_MAP, DEPLOYMENT), "--dry-run=server")
    assert done.splitlines() == [
        "configmap/settings created (server dry run)",
        "deployment.apps/web created (server dry run)",
    ]
    assert kubectl.names("cm,deploy") == []
    kubectl.apply(CONFIG_MAP)
    done = kubectl.apply(CONFIG_MAP.replace("blue", "green"), "--dry-run=server", "-o", "jsonpath={.data.colour}")
    assert done == "green"
    assert kubectl.get("cm", "settings")["data"]["colour"] == "blue"


def test_immutable_fields_are_refused_and_forced(kubectl: Kubectl) -> None:
    kubectl.apply(DEPLOYMENT)
    uid = kubectl.get("deploy", "web")["metadata"]["uid"]
    other = DEPLOYMENT.replace("{app: web}", "{app: other}")
    message = kubectl.fails("apply", "-f", "-", stdin=other)
    assert 'The Deployment "web" is invalid: spec.selector: Invalid value: ' in message
    assert message.endswith("field is immutable")
    assert "configured" in kubectl.apply(other, "--force")
    found = kubectl.get("deploy", "web")
    assert found["metadata"]["uid"] != uid
    assert found["spec"]["selector"]["matchLabels"] == {"app": "other"}


def test_folders_are_applied(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CONFIG_MAP)
    (tmp_path / "b.json").write_text(kubectl("create", "cm", "b", "--dry-run=client", "-o", "json"))
    assert kubectl("apply", "-f", str(tmp_path)).splitlines() == ["configmap/settings created", "configmap/b created"]


def test_prune_removes_what_left_the_manifests(kubectl: Kubectl) -> None:
    labelled = [config_map(name, a="1").replace("name:", "labels: {set: a}\n  name:") for name in ("one", "two")]
    kubectl.apply(documents(*labelled), "-l", "set=a")
    kubectl("create", "cm", "by-hand")
    kubectl("label", "cm", "by-hand", "set=a")
    done = kubectl.apply(labelled[0], "--prune", "-l", "set=a", "--prune-allowlist=core/v1/ConfigMap")
    assert done.splitlines() == ["configmap/one unchanged", "configmap/two pruned"]
    assert kubectl.names("cm") == ["configmap/by-hand", "configmap/one"]


def test_prune_without_allowlist_looks_at_the_usual_kinds(kubectl: Kubectl) -> None:
    labels = "labels: {app: web, set: b}"
    both = documents(
        CONFIG_MAP.replace("labels: {app: web}", labels), DEPLOYMENT.replace("labels: {app: web}", labels, 1)
    )
    kubectl.apply(both)
    done = kubectl.apply(both.partition("---")[0], "--prune", "-l", "set=b")
    assert done.splitlines() == ["configmap/settings unchanged", "deployment.apps/web pruned"]
    assert kubectl.names("deploy") == []


def test_prune_by_applyset(kubectl: Kubectl, namespace: str) -> None:
    alpha = kubectl.with_environment(KUBECTL_APPLYSET="true")
    flags = ("--prune", "--applyset=set")
    alpha.apply(documents(config_map("one", a="1"), config_map("two", a="1")), *flags)
    parent = kubectl.get("secret", "set")["metadata"]
    assert parent["annotations"]["applyset.kubernetes.io/tooling"].startswith("kubectl/v")
    member = kubectl.get("cm", "two")["metadata"]["labels"]["applyset.kubernetes.io/part-of"]
    assert member == parent["labels"]["applyset.kubernetes.io/id"]
    done = alpha.apply(config_map("one", a="1"), *flags)
    assert done.splitlines() == ["configmap/one unchanged", "configmap/two pruned"]
    assert kubectl.names("cm") == ["configmap/one"]
