"""`kubernetes_asyncio` and `kubernetes.aio`: watches, the dynamic client, and what ends or interrupts them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.e2e.conftest import Api
from tests.e2e.python.asyncio_client import LIBRARIES, Library, connected
from tests.e2e.python.forgetful import Forgetful
from tests.e2e.python.objects import GROUP, WIDGETS, Json, config_map, widget
from tests.e2e.python.relay import Relay


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    """One client after the other."""
    return request.param


@pytest.fixture
async def core(library: Library, relayed_kubeconfig: str, relay: Relay) -> AsyncIterator[Any]:
    """The core group, behind the relay."""
    async with connected(library, relayed_kubeconfig, relay) as connection:
        yield library.client.CoreV1Api(connection)


@pytest.fixture
async def dynamic(
    library: Library, relayed_kubeconfig: str, relay: Relay, widgets: Json, tmp_path: Path
) -> AsyncIterator[Any]:
    """A dynamic client, with a separate cache, for a server that has the widgets."""
    assert widgets["metadata"]["name"] == WIDGETS
    async with connected(library, relayed_kubeconfig, relay) as connection:
        yield await library.dynamic.DynamicClient(connection, cache_file=str(tmp_path / "cache.json"))


@pytest.fixture
def maps(namespace: str) -> str:
    """Path of the test's ConfigMaps."""
    return f"/api/v1/namespaces/{namespace}/configmaps"


async def next_events(count: int, stream: Any) -> list[tuple[str, str]]:
    """Type and name of the next events."""
    found = []
    async for event in stream:
        found.append((event["type"], event["object"].metadata.name))
        if len(found) == count:
            break
    return found


async def test_a_watch_sees_an_object_come_change_and_go(
    library: Library, core: Any, api: Api, namespace: str, maps: str
) -> None:
    now = (await core.list_namespaced_config_map(namespace)).metadata.resource_version
    api.create(maps, config_map("settings"))
    api.patch(f"{maps}/settings", {"data": {"a": "b"}})
    api.request("DELETE", f"{maps}/settings")
    async with library.watch.Watch() as watch:
        events = await next_events(3, watch.stream(core.list_namespaced_config_map, namespace, resource_version=now))
    assert events == [("ADDED", "settings"), ("MODIFIED", "settings"), ("DELETED", "settings")]


async def test_a_watch_with_selectors_and_a_time_limit_ends(
    library: Library, core: Any, api: Api, namespace: str, maps: str
) -> None:
    api.create(maps, config_map("one", app="web"))
    api.create(maps, config_map("two", app="web"))
    api.create(maps, config_map("three", app="db"))
    selectors = {"label_selector": "app=web", "field_selector": "metadata.name!=two"}
    async with library.watch.Watch() as watch:
        stream = watch.stream(core.list_namespaced_config_map, namespace, timeout_seconds=1, **selectors)
        assert await next_events(2, stream) == [("ADDED", "one")]


async def test_a_watch_is_taken_up_again_when_its_connection_was_cut(
    library: Library, core: Any, api: Api, relay: Relay, namespace: str, maps: str
) -> None:
    api.create(maps, config_map("before"))
    async with library.watch.Watch() as watch:
        stream = watch.stream(core.list_namespaced_config_map, namespace)
        assert await next_events(1, stream) == [("ADDED", "before")]
        with relay.cut():
            api.create(maps, config_map("after"))
        with pytest.raises(aiohttp.ClientError):
            await anext(stream)
    async with library.watch.Watch() as again:
        stream = again.stream(core.list_namespaced_config_map, namespace, resource_version=watch.resource_version)
        assert await next_events(1, stream) == [("ADDED", "after")]


async def test_a_watch_from_too_long_ago_is_gone(
    library: Library, forgetful: Forgetful, forgetful_kubeconfig: str, forgetful_relay: Relay
) -> None:
    async with connected(library, forgetful_kubeconfig, forgetful_relay) as connection, library.watch.Watch() as watch:
        core = library.client.CoreV1Api(connection)
        then = (await core.list_namespaced_config_map("default")).metadata.resource_version
        forgetful.forget()
        with pytest.raises(library.client.ApiException) as raised:
            await anext(watch.stream(core.list_namespaced_config_map, "default", resource_version=then))
        assert raised.value.status == 410
        assert raised.value.reason.startswith("Expired: too old resource version")


async def test_a_streaming_list_ends_with_a_bookmark(
    library: Library, core: Any, api: Api, namespace: str, maps: str
) -> None:
    api.create(maps, config_map("settings"))
    options = {"send_initial_events": True, "resource_version_match": "NotOlderThan", "allow_watch_bookmarks": True}
    async with library.watch.Watch() as watch:
        stream = watch.stream(core.list_namespaced_config_map, namespace, **options)
        assert (await anext(stream))["type"] == "ADDED"
        bookmark = await anext(stream)
        assert bookmark["type"] == "BOOKMARK"
        assert bookmark["raw_object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_resources_are_found_by_kind(dynamic: Any) -> None:
    pods = await dynamic.resources.get(api_version="v1", kind="Pod")
    assert (pods.name, pods.namespaced) == ("pods", True)


async def test_a_custom_resource_is_created_patched_and_deleted(dynamic: Any, namespace: str) -> None:
    widgets = await dynamic.resources.get(api_version=f"{GROUP}/v1", kind="Widget")
    created = await widgets.create(body=widget("one", size=1), namespace=namespace)
    assert (created.spec.colour, created.metadata.generation) == ("blue", 1)
    changed = await widgets.patch(
        body={"metadata": {"name": "one"}, "spec": {"size": 2}},
        namespace=namespace,
        content_type="application/merge-patch+json",
    )
    assert changed.spec.size == 2
    applied = await widgets.server_side_apply(
        body=widget("one", colour="red"), namespace=namespace, field_manager="tests", force_conflicts=True
    )
    assert (applied.spec.colour, applied.spec.size) == ("red", 2)
    status = {"metadata": {"name": "one"}, "status": {"phase": "Ready"}}
    options = {"namespace": namespace, "content_type": "application/merge-patch+json"}
    assert (await widgets.status.patch(body=status, **options)).status.phase == "Ready"
    assert (await widgets.delete(name="one", namespace=namespace)).status == "Success"


async def test_a_custom_resource_is_watched(library: Library, dynamic: Any, namespace: str) -> None:
    widgets = await dynamic.resources.get(api_version=f"{GROUP}/v1", kind="Widget")
    now = (await widgets.get(namespace=namespace)).metadata.resourceVersion
    for name in ("one", "two"):
        await widgets.create(body=widget(name, size=1), namespace=namespace)
    async with library.watch.Watch() as watcher:
        stream = dynamic.watch(widgets, namespace=namespace, name="two", resource_version=now, watcher=watcher)
        assert await next_events(1, stream) == [("ADDED", "two")]
        await stream.aclose()
