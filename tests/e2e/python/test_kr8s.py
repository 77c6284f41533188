"""`kr8s`, the synchronous client: objects by class and by name, patches, labels, waiting, watching, custom resources.

Concurrency: the client runs its requests in a separate thread, which lives as long as the process.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import kr8s
import pytest
from kr8s._async_utils import as_sync_func
from kr8s.objects import ConfigMap, Deployment, Pod, Secret, Table, new_class

from tests.e2e.conftest import Api
from tests.e2e.python.objects import GROUP, Json, config_map, deployment, pod, widget

# The client supports Kubernetes up to 1.35.
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version v1.36.0.* is not supported:UserWarning")


@pytest.fixture(scope="module")
def client(kubeconfig: str) -> Iterator[Any]:
    """A client with the server's kubeconfig; the client itself never closes its connections."""
    client: Any = kr8s.api(kubeconfig=kubeconfig)
    yield client
    as_sync_func(client._session.aclose)()


@pytest.fixture
def settings(client: Any, namespace: str) -> Any:
    """A ConfigMap that exists."""
    created = ConfigMap(config_map("settings", {"colour": "blue"}, app="web"), namespace=namespace, api=client)
    created.create()
    return created


@pytest.fixture
def web(client: Any, namespace: str) -> Any:
    """A Pod that exists."""
    created = Pod(pod("web"), namespace=namespace, api=client)
    created.create()
    return created


def names(found: Any) -> list[str]:
    """The names of a list."""
    return [item.name for item in found]


def test_the_client_has_a_version_a_user_and_a_namespace(client: Any) -> None:
    assert client.version()["gitVersion"].startswith("v1.36.0")
    assert (client.whoami(), client.namespace) == ("admin", "default")


def test_everything_that_is_served_is_discovered(client: Any) -> None:
    found = {(resource["version"], resource["name"]) for resource in client.api_resources()}
    assert {("v1", "pods"), ("apps/v1", "deployments"), ("coordination.k8s.io/v1", "leases")} <= found
    assert {"v1", "apps/v1"} <= set(client.api_versions())
    assert client.lookup_kind("deploy") == ("deployment.apps/v1", "deployments", True)


def test_an_object_is_created_and_read_back(client: Any, settings: Any, namespace: str) -> None:
    assert settings.metadata.uid
    read = ConfigMap.get("settings", namespace=namespace, api=client)
    assert read.raw == settings.raw
    assert read.exists()


def test_a_missing_object_raises_not_found(client: Any, namespace: str) -> None:
    missing = ConfigMap(config_map("nothing"), namespace=namespace, api=client)
    assert not missing.exists()
    with pytest.raises(kr8s.NotFoundError):
        missing.refresh()


def test_an_error_carries_the_status(client: Any, settings: Any, namespace: str) -> None:
    again = ConfigMap(config_map(settings.name), namespace=namespace, api=client)
    with pytest.raises(kr8s.ServerError) as raised:
        again.create()
    assert str(raised.value) == 'configmaps "settings" already exists'
    assert isinstance(raised.value.status, dict)
    assert (raised.value.status["reason"], raised.value.status["code"]) == ("AlreadyExists", 409)


def test_objects_are_found_by_any_name_of_their_kind(client: Any, settings: Any, namespace: str) -> None:
    for kind in ("cm", "configmap", "configmaps", "ConfigMap", "configmaps/v1"):
        assert names(client.get(kind, settings.name, namespace=namespace)) == ["settings"]


def test_selectors_are_mappings_or_strings(client: Any, namespace: str) -> None:
    for name, app in (("one", "web"), ("two", "web"), ("three", "db")):
        ConfigMap(config_map(name, app=app), namespace=namespace, api=client).create()
    options = {"namespace": namespace, "label_selector": {"app": "web"}}
    assert names(client.get("configmaps", **options)) == ["one", "two"]
    assert names(client.get("configmaps", **options, field_selector="metadata.name!=one")) == ["two"]


def test_a_list_is_read_page_by_page(client: Any, api: Api, namespace: str) -> None:
    for number in range(105):
        api.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map(f"page-{number:03}"))
    assert names(client.get("configmaps", namespace=namespace)) == [f"page-{number:03}" for number in range(105)]


def test_a_list_is_had_as_a_table(client: Any, web: Any) -> None:
    (table,) = client.get("pods", namespace=web.namespace, as_object=Table)
    assert [column["name"] for column in table.column_definitions][:3] == ["Name", "Ready", "Status"]
    assert table.rows[0]["cells"][:3] == ["web", "0/1", "Pending"]


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        pytest.param("json", [{"op": "add", "path": "/data/size", "value": "large"}], id="json"),
        pytest.param(None, {"data": {"size": "large"}}, id="merge"),
    ],
)
def test_a_patch_changes_what_it_names(settings: Any, kind: str | None, patch: Any) -> None:
    settings.patch(patch, type=kind)
    assert settings.raw.data == {"colour": "blue", "size": "large"}


def test_labels_and_annotations_are_put_on_and_taken_off(settings: Any) -> None:
    settings.label({"tier": "front", "example.com/kind": "x"})
    settings.annotate(note="checked")
    settings.label("example.com/kind-")
    assert (settings.labels, settings.annotations) == ({"app": "web", "tier": "front"}, {"note": "checked"})


def test_the_status_is_patched_apart(web: Any) -> None:
    web.patch({"status": {"phase": "Running"}, "spec": {"nodeName": "ignored"}}, subresource="status")
    assert (web.status.phase, "nodeName" in web.spec) == ("Running", False)


def test_a_deployment_is_scaled(client: Any, namespace: str) -> None:
    web = Deployment(deployment("web"), namespace=namespace, api=client)
    web.create()
    web.scale(3)
    assert web.replicas == 3


def test_an_owner_is_set(client: Any, settings: Any, web: Any) -> None:
    settings.adopt(web)
    (owner,) = web.metadata.ownerReferences
    assert (owner.kind, owner.name, owner.uid, owner.controller) == (
        "ConfigMap",
        "settings",
        settings.metadata.uid,
        True,
    )


def test_bytes_of_a_secret_are_encoded_once(client: Any, namespace: str) -> None:
    secret = Secret(
        {"metadata": {"name": "key"}, "stringData": {"password": "geheim"}}, namespace=namespace, api=client
    )
    secret.create()
    assert secret.raw.data == {"password": "Z2VoZWlt"}


def test_an_object_is_deleted(settings: Any) -> None:
    settings.delete(propagation_policy="Background")
    settings.wait("delete", timeout=60)
    with pytest.raises(kr8s.NotFoundError):
        settings.delete()


def test_wait_ends_when_the_condition_is_there(web: Any) -> None:
    condition = {"type": "Ready", "status": "True"}
    web.patch({"status": {"phase": "Running", "conditions": [condition]}}, subresource="status")
    web.wait("condition=Ready", timeout=60)
    web.wait(["jsonpath='{.status.phase}'=Running", "condition=Ready"], mode="all", timeout=60)
    with pytest.raises(TimeoutError):
        web.wait("condition=Initialized", timeout=0.2)


def test_a_kind_is_watched(client: Any, api: Api, settings: Any, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    since = settings.metadata.resourceVersion
    api.patch(f"{path}/settings", {"data": {"a": "b"}})
    api.create(path, config_map("other"))
    events = client.watch("configmaps", namespace=namespace, label_selector="app=web", since=since)
    assert [(kind, found.name) for kind, found in islice(events, 1)] == [("MODIFIED", "settings")]
    events.close()


def test_an_object_is_watched(api: Api, settings: Any, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/settings"
    api.patch(path, {"data": {"a": "b"}})
    api.request("DELETE", path)
    events = settings.watch()
    assert [kind for kind, _ in islice(events, 2)] == ["MODIFIED", "DELETED"]
    events.close()


def test_a_class_of_a_custom_resource_is_made(client: Any, widgets: Json, namespace: str) -> None:
    plural = widgets["spec"]["names"]["plural"]
    cls = new_class("Widget", f"{GROUP}/v1", asyncio=False, plural=plural, scalable=True)
    one = cls(widget("one", size=1), namespace=namespace, api=client)
    one.create()
    one.scale(3)
    one.patch({"status": {"phase": "Ready"}}, subresource="status")
    assert (one.spec, one.status) == ({"size": 1, "colour": "blue", "replicas": 3}, {"phase": "Ready"})
    one.wait("jsonpath='{.status.phase}'=Ready", timeout=60)
    one.delete()
    assert not one.exists()


def test_a_custom_resource_needs_no_class(client: Any, api: Api, widgets: Json, namespace: str) -> None:
    name = widgets["metadata"]["name"]
    api.create(f"/apis/{GROUP}/v1/namespaces/{namespace}/widgets", widget("one", size=1))
    (found,) = client.get(name, namespace=namespace)
    # kr8s may find the class that an earlier test defined for this kind, as long as that class has not been collected.
    assert (found.name, found.kind.lower(), found.version) == ("one", "widget", f"{GROUP}/v1")
