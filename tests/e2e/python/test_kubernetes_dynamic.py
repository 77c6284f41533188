"""The official client `kubernetes`: DynamicClient and CustomObjectsApi, on built-in and on custom resources."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from kubernetes import config
from kubernetes.client import ApiClient, ApiException, ApiextensionsV1Api, CustomObjectsApi
from kubernetes.dynamic import DynamicClient, EagerDiscoverer
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, ResourceNotFoundError, UnprocessibleEntityError
from kubernetes.watch import Watch

from tests.e2e.python.objects import GROUP, WIDGETS, Json, config_map, custom_resource_definition, deployment, widget


@pytest.fixture(scope="module")
def connection(kubeconfig: str) -> Iterator[ApiClient]:
    """A client with the server's kubeconfig."""
    with config.new_client_from_config(config_file=kubeconfig) as connection:
        yield connection


@pytest.fixture(scope="module")
def dynamic(connection: ApiClient, widgets: Json, tmp_path_factory: pytest.TempPathFactory) -> DynamicClient:
    """A dynamic client, with a separate cache, for a server that has the widgets."""
    assert widgets["metadata"]["name"] == WIDGETS
    return DynamicClient(connection, cache_file=str(tmp_path_factory.mktemp("dynamic") / "cache.json"))


@pytest.fixture(scope="module")
def widgets_of(dynamic: DynamicClient) -> Any:
    """The resource of widgets."""
    return dynamic.resources.get(api_version=f"{GROUP}/v1", kind="Widget")


@pytest.fixture
def objects(connection: ApiClient, widgets: Json) -> "Objects":
    """The widgets through CustomObjectsApi."""
    return Objects(CustomObjectsApi(connection), widgets["spec"]["names"]["plural"])


class Objects:
    """CustomObjectsApi with the arguments that are always the same."""

    def __init__(self, api: CustomObjectsApi, plural: str) -> None:
        self._api = api
        self._plural = plural

    def __call__(self, method: str, namespace: str, *arguments: Any, **options: Any) -> Any:
        """Call a method for namespaced objects by the middle of its name, such as `create` or `patch … status`."""
        verb, _, part = method.partition(" ")
        name = f"{verb}_namespaced_custom_object" + (f"_{part}" if part else "")
        return getattr(self._api, name)(GROUP, "v1", namespace, self._plural, *arguments, **options)


def test_resources_are_found_by_kind_and_by_name(dynamic: DynamicClient) -> None:
    assert dynamic.resources.get(api_version="v1", kind="Pod").name == "pods"
    assert dynamic.resources.get(api_version="apps/v1", kind="Deployment").subresources.keys() >= {"status", "scale"}
    found = dynamic.resources.get(group=GROUP, kind="Widget")
    assert (found.name, found.group_version, found.namespaced) == ("widgets", f"{GROUP}/v1", True)


def test_an_unknown_kind_is_not_found(dynamic: DynamicClient) -> None:
    with pytest.raises(ResourceNotFoundError):
        dynamic.resources.get(api_version="v1", kind="Nothing")


def test_everything_is_discovered_at_once(connection: ApiClient, tmp_path: Path) -> None:
    eager = DynamicClient(connection, cache_file=str(tmp_path / "cache.json"), discoverer=EagerDiscoverer)
    assert {"apps", "batch", "coordination.k8s.io", "rbac.authorization.k8s.io"} <= set(eager.resources.api_groups)
    assert eager.resources.get(api_version="v1", kind="Secret").name == "secrets"


def test_a_custom_resource_is_created_listed_replaced_and_deleted(widgets_of: Any, namespace: str) -> None:
    created = widgets_of.create(body=widget("one", size=1), namespace=namespace)
    assert (created.metadata.generation, created.spec.colour) == (1, "blue")
    body = created.to_dict()
    body["spec"]["colour"] = "red"
    assert widgets_of.replace(body=body, namespace=namespace).metadata.generation == 2
    assert [item.spec.colour for item in widgets_of.get(namespace=namespace).items] == ["red"]
    assert widgets_of.delete(name="one", namespace=namespace).status == "Success"
    with pytest.raises(NotFoundError):
        widgets_of.get(name="one", namespace=namespace)


def test_a_custom_resource_is_patched_in_its_ways(widgets_of: Any, namespace: str) -> None:
    widgets_of.create(body=widget("one", size=1), namespace=namespace)
    merge = {"metadata": {"name": "one"}, "spec": {"colour": "red"}}
    options = {"namespace": namespace, "content_type": "application/merge-patch+json"}
    assert widgets_of.patch(body=merge, **options).spec.colour == "red"
    with pytest.raises(ApiException) as raised:
        widgets_of.patch(body=merge, namespace=namespace)
    assert raised.value.status == 415  # a strategic patch needs a type that the server was built with


def test_a_custom_resource_is_applied(widgets_of: Any, namespace: str) -> None:
    body = widget("one", size=1, colour="red")
    widgets_of.server_side_apply(body=body, namespace=namespace, field_manager="one")
    with pytest.raises(ConflictError) as raised:
        widgets_of.server_side_apply(body=widget("one", size=2), namespace=namespace, field_manager="two")
    assert raised.value.summary().startswith('Apply failed with 1 conflict: conflict with "one"')
    forced = widgets_of.server_side_apply(
        body=widget("one", size=2), namespace=namespace, field_manager="two", force_conflicts=True
    )
    assert (forced.spec.size, forced.spec.colour) == (2, "red")


def test_the_status_is_written_apart(widgets_of: Any, namespace: str) -> None:
    created = widgets_of.create(body=widget("one", size=1), namespace=namespace)
    body = {**created.to_dict(), "status": {"phase": "Ready"}, "spec": {"size": 9}}
    written = widgets_of.status.replace(body=body, namespace=namespace)
    assert (written.status.phase, written.spec.size, written.metadata.generation) == ("Ready", 1, 1)


def test_an_object_against_the_schema_is_unprocessable(widgets_of: Any, namespace: str) -> None:
    with pytest.raises(UnprocessibleEntityError) as raised:
        widgets_of.create(body=widget("one", size=0), namespace=namespace)
    assert raised.value.summary() == (
        f'Widget.{GROUP} "one" is invalid: spec.size: Invalid value: 0: '
        "spec.size in body should be greater than or equal to 1"
    )


def test_a_resource_is_watched_until_its_time_is_over(dynamic: DynamicClient, widgets_of: Any, namespace: str) -> None:
    now = widgets_of.get(namespace=namespace).metadata.resourceVersion
    widgets_of.create(body=widget("one", size=1), namespace=namespace)
    widgets_of.create(body=widget("two", size=1), namespace=namespace)
    widgets_of.delete(name="two", namespace=namespace)
    events = dynamic.watch(widgets_of, namespace=namespace, name="two", resource_version=now, timeout=1)
    assert [(event["type"], event["object"].metadata.name) for event in events] == [
        ("ADDED", "two"),
        ("DELETED", "two"),
    ]


def test_a_streaming_list_of_custom_resources_ends_with_a_bookmark(
    dynamic: DynamicClient, widgets_of: Any, namespace: str
) -> None:
    widgets_of.create(body=widget("one", size=1), namespace=namespace)
    watcher = Watch()
    options = {"send_initial_events": True, "allow_watch_bookmarks": True, "resource_version_match": "NotOlderThan"}
    stream = dynamic.watch(widgets_of, namespace=namespace, watcher=watcher, timeout=5, **options)
    added, bookmark = islice(stream, 2)
    watcher.stop()
    assert (added["type"], bookmark["type"]) == ("ADDED", "BOOKMARK")
    assert bookmark["raw_object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_built_in_resources_are_changed_without_their_models(dynamic: DynamicClient, namespace: str) -> None:
    deployments = dynamic.resources.get(api_version="apps/v1", kind="Deployment")
    deployments.create(body=deployment("web"), namespace=namespace)
    patch = {"metadata": {"name": "web"}, "spec": {"replicas": 3}}
    assert deployments.scale.patch(body=patch, namespace=namespace).spec.replicas == 3
    assert deployments.get(name="web", namespace=namespace).spec.replicas == 3


def test_a_list_is_continued(dynamic: DynamicClient, namespace: str) -> None:
    maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
    for name in ("one", "two", "three"):
        maps.create(body=config_map(name, app="web"), namespace=namespace)
    first = maps.get(namespace=namespace, label_selector="app=web", limit=2)
    rest = maps.get(namespace=namespace, label_selector="app=web", limit=2, _continue=first.metadata["continue"])
    assert [item.metadata.name for page in (first, rest) for item in page.items] == ["one", "three", "two"]


def test_custom_objects_are_created_patched_and_deleted(objects: Objects, namespace: str) -> None:
    created = objects("create", namespace, widget("one", size=1))
    assert created["spec"] == {"size": 1, "colour": "blue", "replicas": 1}
    assert objects("patch", namespace, "one", {"spec": {"size": 2}})["spec"]["size"] == 2
    assert objects("list", namespace)["kind"] == "WidgetList"
    assert objects("delete", namespace, "one")["status"] == "Success"


def test_custom_objects_have_a_status_and_a_scale(objects: Objects, namespace: str) -> None:
    objects("create", namespace, widget("one", size=1))
    status = {"status": {"phase": "Ready", "replicas": 1, "selector": "app=one"}}
    assert objects("patch status", namespace, "one", status)["status"]["phase"] == "Ready"
    scale = objects("get scale", namespace, "one")
    assert (scale["spec"], scale["status"]) == ({"replicas": 1}, {"replicas": 1, "selector": "app=one"})
    assert objects("patch scale", namespace, "one", {"spec": {"replicas": 4}})["spec"] == {"replicas": 4}
    assert objects("get", namespace, "one")["spec"]["replicas"] == 4


def test_a_definition_is_created_from_its_model_and_taken_back(connection: ApiClient) -> None:
    extensions = ApiextensionsV1Api(connection)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    extensions.create_custom_resource_definition(custom_resource_definition("gears", "Gear", schema))
    watch = Watch()
    options = {"field_selector": f"metadata.name=gears.{GROUP}"}
    for event in watch.stream(extensions.list_custom_resource_definition, **options):
        conditions = event["object"].status.conditions or []
        if any((condition.type, condition.status) == ("Established", "True") for condition in conditions):
            watch.stop()
    gears = CustomObjectsApi(connection).list_cluster_custom_object(GROUP, "v1", "gears")
    assert (gears["kind"], gears["items"]) == ("GearList", [])
    extensions.delete_custom_resource_definition(f"gears.{GROUP}")
    for event in watch.stream(
        extensions.list_custom_resource_definition, **options, resource_version=watch.resource_version
    ):
        if event["type"] == "DELETED":
            watch.stop()
    with pytest.raises(ApiException) as raised:
        extensions.read_custom_resource_definition(f"gears.{GROUP}")
    assert raised.value.status == 404
