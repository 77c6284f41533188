"""`lightkube`, asynchronous: the same life of an object, and watches that are interrupted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from lightkube import ApiError, AsyncClient, KubeConfig
from lightkube.generic_resource import async_load_in_cluster_generic_resources, get_generic_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import PatchType, on_error_retry

from tests.e2e.conftest import Api
from tests.e2e.python.forgetful import Forgetful
from tests.e2e.python.objects import GROUP, Json, config_map, pod
from tests.e2e.python.relay import Relay


@pytest.fixture
async def client(relayed_kubeconfig: str) -> AsyncIterator[AsyncClient]:
    """A client behind the relay."""
    config = KubeConfig.from_file(relayed_kubeconfig)
    async with AsyncClient(config=config, trust_env=False, field_manager="tests") as client:
        yield client


@pytest.fixture
def maps(namespace: str) -> str:
    """Path of the test's ConfigMaps."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


async def next_events(count: int, stream: Any) -> list[tuple[str, str]]:
    """Type and name of the next events."""
    found = []
    for _ in range(count):
        kind, changed = await anext(stream)
        found.append((kind, changed.metadata.name))
    return found


async def test_an_object_is_created_changed_and_deleted(client: AsyncClient, namespace: str) -> None:
    body = ConfigMap(metadata=ObjectMeta(name="settings", namespace=namespace), data={"colour": "blue"})
    created = await client.create(body)
    created.data = {"colour": "red", "size": "large"}
    await client.replace(created)
    patch = [{"op": "remove", "path": "/data/size"}]
    changed = await client.patch(ConfigMap, "settings", patch, namespace=namespace, patch_type=PatchType.JSON)
    assert changed.data == {"colour": "red"}
    assert await client.get(ConfigMap, "settings", namespace=namespace) == changed
    await client.delete(ConfigMap, "settings", namespace=namespace)
    with pytest.raises(ApiError) as raised:
        await client.get(ConfigMap, "settings", namespace=namespace)
    assert (raised.value.status.code, raised.value.status.reason) == (404, "NotFound")


async def test_a_list_is_read_in_chunks(client: AsyncClient, api: Api, namespace: str, maps: str) -> None:
    for number in range(5):
        api.create(maps, config_map(f"page-{number}"))
    found = client.list(ConfigMap, namespace=namespace, chunk_size=2)
    assert [item.metadata.name async for item in found] == [f"page-{number}" for number in range(5)]


async def test_apply_conflicts_until_it_is_forced(client: AsyncClient, namespace: str) -> None:
    for manager, force in (("one", False), ("two", True)):
        body = ConfigMap(metadata=ObjectMeta(name="settings"), data={"by": manager})
        applied = await client.apply(body, namespace=namespace, field_manager=manager, force=force)
        assert applied.data == {"by": manager}
    body = ConfigMap(metadata=ObjectMeta(name="settings"), data={"by": "one"})
    with pytest.raises(ApiError) as raised:
        await client.apply(body, namespace=namespace, field_manager="one")
    assert raised.value.status.details.causes[0].message == 'conflict with "two"'


async def test_a_cut_connection_loses_no_event(
    client: AsyncClient, api: Api, relay: Relay, namespace: str, maps: str
) -> None:
    api.create(maps, config_map("before"))
    stream = client.watch(ConfigMap, namespace=namespace, on_error=on_error_retry)
    assert await next_events(1, stream) == [("ADDED", "before")]
    with relay.cut():
        api.create(maps, config_map("after"))
        api.request("DELETE", f"{maps}/before")
    assert await next_events(2, stream) == [("ADDED", "after"), ("DELETED", "before")]


async def test_a_watch_from_too_long_ago_starts_over(forgetful: Forgetful, forgetful_kubeconfig: str) -> None:
    async with AsyncClient(config=KubeConfig.from_file(forgetful_kubeconfig), trust_env=False) as client:
        found = client.list(ConfigMap, namespace="default")
        async for _ in found:
            pass  # the version is known when the list has been read
        then = found.resourceVersion
        forgetful.forget()
        with pytest.raises(ApiError) as raised:
            await anext(client.watch(ConfigMap, namespace="default", resource_version=then))
        assert raised.value.status.code == 410
        again = client.watch(ConfigMap, namespace="default", resource_version=then, on_error=on_error_retry)
        assert (await anext(again))[0] == "ADDED"


async def test_wait_ends_when_the_condition_is_there(client: AsyncClient, api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    api.create(path, pod("web"))
    api.patch(f"{path}/web/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    found = await client.wait(Pod, "web", for_conditions=["Ready"], namespace=namespace)
    assert found.metadata.name == "web"


async def test_custom_resources_are_generic(client: AsyncClient, widgets: Json, namespace: str) -> None:
    assert widgets["spec"]["group"] == GROUP
    await async_load_in_cluster_generic_resources(client)
    resource = get_generic_resource(f"{GROUP}/v1", "Widget")
    assert resource is not None
    created = await client.create(resource(metadata={"name": "one"}, spec={"size": 1}), namespace=namespace)
    assert created.spec["colour"] == "blue"
    status = {"status": {"phase": "Ready"}}
    options = {"namespace": namespace, "patch_type": PatchType.MERGE}
    assert (await client.patch(resource.Status, "one", status, **options)).status == {"phase": "Ready"}
    assert await next_events(1, client.watch(resource, namespace=namespace)) == [("ADDED", "one")]
