"""The official client `kubernetes`: configuration, and objects of built-in types through its typed models."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes import client, config, utils
from kubernetes.client import (
    ApiClient,
    ApiException,
    AppsV1Api,
    AuthenticationV1Api,
    CoreV1Api,
    PolicyV1Api,
    VersionApi,
)

from tests.cli.server import Server
from tests.e2e.python.objects import config_map, deployment, pod


@pytest.fixture(scope="module")
def connection(kubeconfig: str) -> Iterator[ApiClient]:
    """A client with the server's kubeconfig."""
    with config.new_client_from_config(config_file=kubeconfig) as connection:
        yield connection


@pytest.fixture(scope="module")
def core(connection: ApiClient) -> CoreV1Api:
    """The core group."""
    return CoreV1Api(connection)


@pytest.fixture(scope="module")
def apps(connection: ApiClient) -> AppsV1Api:
    """The group `apps`."""
    return AppsV1Api(connection)


def settings(name: str = "settings", **data: str) -> client.V1ConfigMap:
    """A ConfigMap as a model."""
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"app": "web"}), data=data)


def test_the_kubeconfig_names_one_context(kubeconfig: str) -> None:
    contexts, active = config.list_kube_config_contexts(kubeconfig)
    assert [context["name"] for context in contexts] == ["sampan"]
    assert active["context"] == {"cluster": "sampan", "user": "admin"}


def test_a_token_is_as_good_as_a_certificate(server: Server, kubeconfig: str) -> None:
    settings = yaml.safe_load(Path(kubeconfig).read_text())
    settings["users"][0]["user"] = {"token": server.token}
    with config.new_client_from_config_dict(settings) as connection:
        review = AuthenticationV1Api(connection).create_self_subject_review({})
        assert review.status.user_info.username == "admin"


def test_the_version_is_a_kubernetes_version(connection: ApiClient) -> None:
    version = VersionApi(connection).get_code()
    assert (version.major, version.minor) == ("1", "36")
    assert version.git_version.startswith("v1.36.0+sampan-")


def test_an_object_is_created_from_a_model_and_read_back(core: CoreV1Api, namespace: str) -> None:
    created = core.create_namespaced_config_map(namespace, settings(colour="blue"), field_manager="tests")
    assert created.metadata.uid
    assert created.metadata.creation_timestamp.tzinfo is not None
    read = core.read_namespaced_config_map("settings", namespace)
    assert read == created
    assert read.metadata.managed_fields[0].manager == "tests"


def test_bytes_arrive_as_they_were_sent(core: CoreV1Api, namespace: str) -> None:
    body = client.V1Secret(metadata=client.V1ObjectMeta(name="key"), string_data={"password": "geheim"})
    created = core.create_namespaced_secret(namespace, body)
    assert (created.data, created.string_data, created.type) == ({"password": "Z2VoZWlt"}, None, "Opaque")


def test_a_dry_run_stores_nothing(core: CoreV1Api, namespace: str) -> None:
    assert core.create_namespaced_config_map(namespace, settings(), dry_run="All").metadata.uid
    assert "settings" not in [item.metadata.name for item in core.list_namespaced_config_map(namespace).items]


def test_a_list_comes_in_pages(core: CoreV1Api, namespace: str) -> None:
    for number in range(5):
        core.create_namespaced_config_map(namespace, settings(f"page-{number}"))
    selector = {"label_selector": "app=web", "limit": 2}
    first = core.list_namespaced_config_map(namespace, **selector)
    assert (len(first.items), first.metadata.remaining_item_count) == (2, None)
    second = core.list_namespaced_config_map(namespace, **selector, _continue=first.metadata._continue)
    third = core.list_namespaced_config_map(namespace, **selector, _continue=second.metadata._continue)
    assert third.metadata._continue is None
    names = [item.metadata.name for page in (first, second, third) for item in page.items]
    assert names == [f"page-{number}" for number in range(5)]
    assert {page.metadata.resource_version for page in (first, second, third)} == {first.metadata.resource_version}


def test_a_list_across_namespaces_takes_a_field_selector(core: CoreV1Api, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, settings("chosen"))
    selector = f"metadata.namespace={namespace},metadata.name=chosen"
    found = core.list_config_map_for_all_namespaces(field_selector=selector)
    assert [(item.metadata.namespace, item.metadata.name) for item in found.items] == [(namespace, "chosen")]


def test_replace_keeps_what_is_not_to_change(core: CoreV1Api, namespace: str) -> None:
    found = core.create_namespaced_config_map(namespace, settings(colour="blue"))
    found.data = {"colour": "red"}
    replaced = core.replace_namespaced_config_map("settings", namespace, found)
    assert (replaced.data, replaced.metadata.uid) == ({"colour": "red"}, found.metadata.uid)
    assert int(replaced.metadata.resource_version) > int(found.metadata.resource_version)


def test_a_pod_gets_its_defaults_and_its_status(core: CoreV1Api, namespace: str) -> None:
    created = core.create_namespaced_pod(namespace, pod("web"))
    assert (created.spec.restart_policy, created.spec.dns_policy) == ("Always", "ClusterFirst")
    assert (created.status.phase, created.status.qos_class) == ("Pending", "BestEffort")


def test_the_status_is_written_through_its_subresource(core: CoreV1Api, namespace: str) -> None:
    core.create_namespaced_pod(namespace, pod("web"))
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    changed = core.patch_namespaced_pod_status(
        "web",
        namespace,
        {"status": {"phase": "Running", "conditions": [condition]}, "metadata": {"labels": {"a": "b"}}},
    )
    assert (changed.status.phase, changed.status.conditions[0].type) == ("Running", "Ready")
    assert core.read_namespaced_pod_status("web", namespace).status.phase == "Running"


def test_a_deployment_is_scaled(apps: AppsV1Api, namespace: str) -> None:
    apps.create_namespaced_deployment(namespace, deployment("web", replicas=2))
    scale = apps.read_namespaced_deployment_scale("web", namespace)
    assert (scale.spec.replicas, scale.status.selector) == (2, "app=web")
    scale.spec.replicas = 5
    assert apps.replace_namespaced_deployment_scale("web", namespace, scale).spec.replicas == 5
    assert apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}}).spec.replicas == 3
    found = apps.read_namespaced_deployment("web", namespace)
    assert (found.spec.replicas, found.metadata.generation) == (3, 3)


def test_a_pod_is_bound_to_a_node(core: CoreV1Api, namespace: str) -> None:
    core.create_namespaced_pod(namespace, pod("web"))
    target = client.V1ObjectReference(kind="Node", name="node-1", api_version="v1")
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name="web"), target=target)
    # The answer is a Status, which the client would take for a Binding.
    core.create_namespaced_pod_binding("web", namespace, binding, _preload_content=False)
    assert core.read_namespaced_pod("web", namespace).spec.node_name == "node-1"


def test_a_pod_is_evicted_as_far_as_its_budget_allows(core: CoreV1Api, connection: ApiClient, namespace: str) -> None:
    eviction = client.V1Eviction(
        metadata=client.V1ObjectMeta(name="web"), delete_options=client.V1DeleteOptions(grace_period_seconds=0)
    )
    running = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    core.create_namespaced_pod(namespace, {**pod("web"), "metadata": {"name": "web", "labels": {"app": "web"}}})
    core.patch_namespaced_pod_status("web", namespace, running)
    budgets = PolicyV1Api(connection)
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    budgets.create_namespaced_pod_disruption_budget(namespace, {"metadata": {"name": "budget"}, "spec": spec})
    with pytest.raises(ApiException) as raised:
        core.create_namespaced_pod_eviction("web", namespace, eviction)
    assert (raised.value.status, raised.value.reason) == (429, "Too Many Requests")
    budgets.delete_namespaced_pod_disruption_budget("budget", namespace)
    core.create_namespaced_pod_eviction("web", namespace, eviction)
    assert core.list_namespaced_pod(namespace).items == []


def test_delete_returns_details_of_the_deleted_object(core: CoreV1Api, namespace: str) -> None:
    created = core.create_namespaced_config_map(namespace, settings())
    preconditions = client.V1Preconditions(uid=created.metadata.uid)
    response = core.delete_namespaced_config_map(
        "settings", namespace, body=client.V1DeleteOptions(preconditions=preconditions)
    )
    details = {"name": "settings", "kind": "configmaps", "uid": created.metadata.uid}
    assert (response["status"], response["details"]) == ("Success", details)


def test_delete_of_a_pod_returns_the_pod(core: CoreV1Api, namespace: str) -> None:
    core.create_namespaced_pod(namespace, pod("web", node="node-1"))
    deleted = core.delete_namespaced_pod("web", namespace, grace_period_seconds=7)
    assert (deleted.metadata.name, deleted.metadata.deletion_grace_period_seconds) == ("web", 7)
    core.delete_namespaced_pod("web", namespace, grace_period_seconds=0)
    assert core.list_namespaced_pod(namespace).items == []


def test_a_collection_is_deleted_by_label(core: CoreV1Api, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, settings("one"))
    core.create_namespaced_config_map(namespace, config_map("other"))
    core.delete_collection_namespaced_config_map(namespace, label_selector="app=web")
    assert [item.metadata.name for item in core.list_namespaced_config_map(namespace).items] == ["other"]


def test_manifests_are_created_and_then_applied(
    connection: ApiClient, core: CoreV1Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where the client keeps what it discovered
    manifests = [config_map("one", {"colour": "blue"}), deployment("web")]
    utils.create_from_yaml(connection, yaml_objects=manifests, namespace=namespace)
    changed = [config_map("one", {"size": "large"})]
    utils.create_from_yaml(connection, yaml_objects=changed, namespace=namespace, apply=True)
    found = core.read_namespaced_config_map("one", namespace)
    assert found.data == {"colour": "blue", "size": "large"}
    assert [entry.operation for entry in found.metadata.managed_fields] == ["Apply", "Update"]
