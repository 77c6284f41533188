"""`lightkube`, synchronous: watches that begin, resume and start over; custom resources as generic resources."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import httpx2
import pytest
from lightkube import ApiError, Client, KubeConfig
from lightkube.generic_resource import (
    create_namespaced_resource,
    get_generic_resource,
    load_in_cluster_generic_resources,
)
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType, on_error_retry

from tests.e2e.conftest import Api
from tests.e2e.python.forgetful import Forgetful
from tests.e2e.python.objects import GROUP, Json, config_map
from tests.e2e.python.relay import Relay


@pytest.fixture
def client(relayed_kubeconfig: str) -> Iterator[Client]:
    """A client behind the relay."""
    with Client(config=KubeConfig.from_file(relayed_kubeconfig), trust_env=False, field_manager="tests") as client:
        yield client


@pytest.fixture
def maps(namespace: str) -> str:
    """Path of the test's ConfigMaps."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


def version(client: Client, namespace: str) -> str:
    """The resourceVersion of the ConfigMaps now."""
    found = client.list(ConfigMap, namespace=namespace)
    list(found)
    return str(found.resourceVersion)


def next_events(count: int, stream: Iterator[tuple[str, Any]]) -> list[tuple[str, str]]:
    """Type and name of the next events."""
    return [(kind, found.metadata.name) for kind, found in islice(stream, count)]


def test_a_watch_sees_an_object_come_change_and_go(client: Client, api: Api, namespace: str, maps: str) -> None:
    now = version(client, namespace)
    api.create(maps, config_map("settings"))
    api.patch(f"{maps}/settings", {"data": {"a": "b"}})
    api.request("DELETE", f"{maps}/settings")
    events = next_events(3, client.watch(ConfigMap, namespace=namespace, resource_version=now))
    assert events == [("ADDED", "settings"), ("MODIFIED", "settings"), ("DELETED", "settings")]


def test_a_watch_takes_selectors(client: Client, api: Api, namespace: str, maps: str) -> None:
    now = version(client, namespace)
    for name, app in (("one", "db"), ("two", "web"), ("three", "web")):
        api.create(maps, config_map(name, app=app))
    stream = client.watch(
        ConfigMap,
        namespace=namespace,
        resource_version=now,
        labels={"app": "web"},
        fields={"metadata.name": "three"},
    )
    assert next_events(1, stream) == [("ADDED", "three")]


def test_a_watch_with_a_time_limit_begins_again_where_it_was(
    client: Client, api: Api, namespace: str, maps: str
) -> None:
    requested: list[httpx2.URL] = []

    def fetch(request: httpx2.Request) -> None:
        requested.append(request.url)
        if len(requested) == 2:
            api.create(maps, config_map("after"))

    client._client._client.event_hooks["request"].append(fetch)
    api.create(maps, config_map("before"))
    stream = client.watch(ConfigMap, namespace=namespace, server_timeout=1)
    assert next_events(2, stream) == [("ADDED", "before"), ("ADDED", "after")]
    assert ["resourceVersion" in url.params for url in requested] == [False, True]


def test_a_cut_connection_loses_no_event(client: Client, api: Api, relay: Relay, namespace: str, maps: str) -> None:
    api.create(maps, config_map("before"))
    stream = client.watch(ConfigMap, namespace=namespace, on_error=on_error_retry)
    assert next_events(1, stream) == [("ADDED", "before")]
    with relay.cut():
        api.create(maps, config_map("after"))
        api.request("DELETE", f"{maps}/before")
    assert next_events(2, stream) == [("ADDED", "after"), ("DELETED", "before")]


def test_a_watch_from_too_long_ago_is_gone_or_starts_over(forgetful: Forgetful, forgetful_kubeconfig: str) -> None:
    with Client(config=KubeConfig.from_file(forgetful_kubeconfig), trust_env=False) as client:
        then = version(client, "default")
        forgetful.forget()
        with pytest.raises(ApiError) as raised:
            next(client.watch(ConfigMap, namespace="default", resource_version=then))
        assert (raised.value.status.code, raised.value.status.reason) == (410, "Expired")
        again = client.watch(ConfigMap, namespace="default", resource_version=then, on_error=on_error_retry)
        assert next(again)[0] == "ADDED"


def test_custom_resources_are_generic(client: Client, widgets: Json, namespace: str) -> None:
    assert widgets["spec"]["group"] == GROUP
    load_in_cluster_generic_resources(client)
    resource = get_generic_resource(f"{GROUP}/v1", "Widget")
    assert resource is not None
    created = client.create(resource(metadata={"name": "one"}, spec={"size": 1}), namespace=namespace)
    assert created.spec == {"size": 1, "colour": "blue", "replicas": 1}
    created.spec["size"] = 2
    assert client.replace(created).metadata.generation == 2
    patch = {"spec": {"colour": "red"}}
    changed = client.patch(resource, "one", patch, namespace=namespace, patch_type=PatchType.MERGE)
    assert changed.spec["colour"] == "red"
    assert [item.metadata.name for item in client.list(resource, namespace="*") if item.metadata.namespace == namespace]
    client.delete(resource, "one", namespace=namespace)
    with pytest.raises(ApiError):
        client.get(resource, "one", namespace=namespace)


@pytest.mark.usefixtures("widgets")
def test_custom_resources_have_a_status_and_a_scale(client: Client, namespace: str) -> None:
    resource = create_namespaced_resource(GROUP, "v1", "Widget", "widgets")
    client.apply(resource(metadata={"name": "one"}, spec={"size": 1}), namespace=namespace)
    status = resource.Status(metadata={"name": "one"}, status={"phase": "Ready"})
    written = client.apply(status, namespace=namespace, field_manager="status")
    assert (written.status, written.metadata.generation) == ({"phase": "Ready"}, 1)
    scale = client.get(resource.Scale, "one", namespace=namespace)
    scale.spec.replicas = 4
    assert client.replace(scale, "one", namespace=namespace).spec.replicas == 4
    assert client.get(resource, "one", namespace=namespace).spec["replicas"] == 4


@pytest.mark.usefixtures("widgets")
def test_custom_resources_are_watched_and_waited_for(client: Client, namespace: str) -> None:
    resource = create_namespaced_resource(GROUP, "v1", "Widget", "widgets")
    client.create(resource(metadata={"name": "one"}, spec={"size": 1}), namespace=namespace)
    assert next_events(1, client.watch(resource, namespace=namespace)) == [("ADDED", "one")]
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    client.patch(resource.Status, "one", status, namespace=namespace, patch_type=PatchType.MERGE)
    found = client.wait(resource, "one", for_conditions=["Ready"], namespace=namespace)
    assert found.status["conditions"] == [{"type": "Ready", "status": "True"}]
