"""kubectl's view of the server: api-resources, api-versions, version, cluster-info, explain, config."""

import json

import pytest

from tests.cli.server import Server
from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP

pytestmark = pytest.mark.e2e


def rows(kubectl: Kubectl, *arguments: str) -> dict[str, list[str]]:
    """The rows of api-resources by name."""
    lines = kubectl("api-resources", "--no-headers", *arguments).splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines}


def test_api_resources_is_a_table(kubectl: Kubectl) -> None:
    assert kubectl("api-resources").splitlines()[0].split() == [
        "NAME",
        "SHORTNAMES",
        "APIVERSION",
        "NAMESPACED",
        "KIND",
    ]
    found = rows(kubectl)
    assert found["pods"] == ["po", "v1", "true", "Pod"]
    assert found["customresourcedefinitions"] == [
        "crd,crds",
        "apiextensions.k8s.io/v1",
        "false",
        "CustomResourceDefinition",
    ]
    assert found["cronjobs"] == ["cj", "batch/v1", "true", "CronJob"]
    assert found["horizontalpodautoscalers"] == ["hpa", "autoscaling/v2", "true", "HorizontalPodAutoscaler"]


def test_api_resources_are_filtered(kubectl: Kubectl) -> None:
    assert set(rows(kubectl, "--api-group=apps")) == {
        "controllerrevisions",
        "daemonsets",
        "deployments",
        "replicasets",
        "statefulsets",
    }
    assert "nodes" in rows(kubectl, "--namespaced=false")
    assert "pods" not in rows(kubectl, "--namespaced=false")
    assert "tokenreviews" not in rows(kubectl, "--verbs=list,watch")
    assert "deployments" in rows(kubectl, "--categories=all")
    assert "configmaps" not in rows(kubectl, "--categories=all")


def test_api_resources_in_wide(kubectl: Kubectl) -> None:
    wide = rows(kubectl, "-o", "wide")
    assert wide["pods"][-2:] == ["create,delete,deletecollection,get,list,patch,update,watch", "all"]
    assert wide["bindings"][-1] == "create"


def test_api_resources_are_sorted(kubectl: Kubectl) -> None:
    by_kind = kubectl("api-resources", "--sort-by=kind", "--no-headers").splitlines()
    kinds = [line.split()[-1] for line in by_kind]
    assert kinds == sorted(kinds)
    by_name = kubectl("api-resources", "--sort-by=name", "-o", "name").splitlines()
    assert "pods" in by_name
    assert by_name == sorted(by_name)


def test_api_versions(kubectl: Kubectl) -> None:
    found = kubectl("api-versions").splitlines()
    assert {"v1", "apps/v1", "batch/v1", "autoscaling/v1", "autoscaling/v2", "rbac.authorization.k8s.io/v1"} <= set(
        found
    )
    assert {"batch/v1beta1", "batch/v2alpha1", "apiextensions.k8s.io/v1beta1"} <= set(found)


def test_version(kubectl: Kubectl) -> None:
    found = json.loads(kubectl("version", "-o", "json"))["serverVersion"]
    assert (found["major"], found["minor"]) == ("1", "36")
    assert found["gitVersion"].startswith("v1.36.")
    assert "Server Version: v1.36." in kubectl("version")


def test_cluster_info(kubectl: Kubectl, server: Server) -> None:
    text = kubectl("cluster-info")
    assert "Kubernetes control plane" in text
    assert f"https://127.0.0.1:{server.port}" in text


def test_cluster_info_dump(kubectl: Kubectl, namespace: str) -> None:
    kubectl("create", "deployment", "web", "--image=x")
    text = kubectl("cluster-info", "dump", "--namespaces", namespace)
    assert '"kind": "NodeList"' in text
    assert '"kind": "DeploymentList"' in text
    assert '"name": "web"' in text


def test_explain_a_kind(kubectl: Kubectl) -> None:
    lines = kubectl("explain", "deployments").splitlines()
    assert lines[:3] == ["GROUP:      apps", "KIND:       Deployment", "VERSION:    v1"]
    assert any(line.startswith("  spec\t<DeploymentSpec>") for line in lines)


def test_explain_a_field(kubectl: Kubectl) -> None:
    text = kubectl("explain", "pod.spec.containers.image")
    assert "FIELD: image <string>" in text
    assert "KIND:       Pod" in text
    assert "-required-" in kubectl("explain", "pod.spec.containers")


def test_explain_recursively(kubectl: Kubectl) -> None:
    text = kubectl("explain", "configmaps", "--recursive")
    assert "  metadata\t<ObjectMeta>" in text
    assert "    annotations\t<map[string]string>" in text


def test_explain_another_version(kubectl: Kubectl) -> None:
    text = kubectl("explain", "hpa.spec", "--api-version=autoscaling/v1")
    assert "targetCPUUtilizationPercentage" in text
    assert "targetCPUUtilizationPercentage" not in kubectl("explain", "hpa.spec", "--api-version=autoscaling/v2")


def test_explain_through_openapi_v2(kubectl: Kubectl) -> None:
    text = kubectl("explain", "pods.spec.containers.image", "--output=plaintext-openapiv2")
    assert "FIELD:    image <string>" in text


def test_explain_what_is_not_there(kubectl: Kubectl) -> None:
    assert kubectl.fails("explain", "pods.spec.nope") == 'error: field "nope" does not exist'
    assert kubectl.fails("explain", "gizmos") == 'the server doesn\'t have a resource type "gizmos"'


def test_config_names_the_server(kubectl: Kubectl, server: Server) -> None:
    found = json.loads(kubectl("config", "view", "-o", "json"))
    assert found["clusters"][0]["cluster"]["server"] == f"https://127.0.0.1:{server.port}"
    assert found["current-context"] == kubectl("config", "current-context")
    assert "DATA+OMITTED" in kubectl("config", "view") or "REDACTED" in kubectl("config", "view")


def test_a_plain_discovery_is_enough(kubectl: Kubectl) -> None:
    assert json.loads(kubectl("get", "--raw", "/apis"))["kind"] == "APIGroupList"
    assert json.loads(kubectl("get", "--raw", "/api/v1"))["kind"] == "APIResourceList"


def test_kubectl_reads_what_it_wrote_with_the_old_validation(kubectl: Kubectl) -> None:
    kubectl("create", "--validate=warn", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl.names("cm") == ["configmap/settings"]
