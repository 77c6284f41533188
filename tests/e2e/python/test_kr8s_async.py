"""`kr8s.asyncio`: the same life of an object, and watches that are interrupted."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import kr8s
import pytest
from kr8s.asyncio.objects import ConfigMap, Pod, new_class

from tests.e2e.conftest import Api
from tests.e2e.python.objects import GROUP, Json, config_map, pod, widget
from tests.e2e.python.relay import Relay

# The client supports Kubernetes up to 1.35.
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version v1.36.0.* is not supported:UserWarning")


@pytest.fixture
async def client(kubeconfig: str) -> AsyncIterator[Any]:
    """A client with the server's kubeconfig; the client itself never closes its connections."""
    client: Any = await kr8s.asyncio.api(kubeconfig=kubeconfig)
    yield client
    await client._session.aclose()


@pytest.fixture
async def settings(client: Any, namespace: str) -> Any:
    """A ConfigMap that exists."""
    created = await ConfigMap(config_map("settings", {"colour": "blue"}, app="web"), namespace=namespace, api=client)
    await created.create()
    return created


async def test_an_object_is_created_changed_and_deleted(client: Any, settings: Any, namespace: str) -> None:
    await settings.patch({"data": {"colour": "red"}})
    await settings.label(tier="front")
    await settings.annotate(note="checked")
    read = await ConfigMap.get("settings", namespace=namespace, api=client)
    assert (read.raw.data, read.labels) == ({"colour": "red"}, {"app": "web", "tier": "front"})
    assert read.annotations == {"note": "checked"}
    await settings.delete()
    assert not await settings.exists()
    with pytest.raises(kr8s.NotFoundError):
        await settings.refresh()


async def test_lists_take_selectors(client: Any, settings: Any, namespace: str) -> None:
    found = client.get("configmaps", namespace=namespace, label_selector={"app": "web"})
    assert [item.name async for item in found] == [settings.name]
    listed = ConfigMap.list(namespace=namespace, api=client, field_selector="metadata.name!=settings")
    assert [item async for item in listed] == []


async def test_wait_ends_when_the_condition_is_there(client: Any, namespace: str) -> None:
    web = await Pod(pod("web"), namespace=namespace, api=client)
    await web.create()
    condition = {"type": "Ready", "status": "True"}
    await web.patch({"status": {"conditions": [condition]}}, subresource="status")
    await web.wait("condition=Ready", timeout=60)
    await web.delete(grace_period=0, force=True)
    await web.wait("delete", timeout=60)


async def test_a_kind_is_watched(client: Any, api: Api, settings: Any, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    api.patch(f"{path}/settings", {"data": {"a": "b"}})
    api.request("DELETE", f"{path}/settings")
    observed = []
    async for kind, found in client.watch("cm", namespace=namespace, since=settings.metadata.resourceVersion):
        observed.append((kind, found.name))
        if kind == "DELETED":
            break
    assert observed == [("MODIFIED", "settings"), ("DELETED", "settings")]


async def test_a_custom_resource_can_have_a_class(client: Any, widgets: Json, namespace: str) -> None:
    cls = new_class("Widget", f"{GROUP}/v1", plural=widgets["spec"]["names"]["plural"])
    one = await cls(widget("one", size=1), namespace=namespace, api=client)
    await one.create()
    await one.patch({"status": {"phase": "Ready"}}, subresource="status")
    await one.wait("jsonpath='{.status.phase}'=Ready", timeout=60)
    assert [item.name async for item in client.get(cls, namespace=namespace)] == ["one"]


async def test_a_watch_is_taken_up_again_when_its_connection_was_cut(
    api: Api, namespace: str, relayed_kubeconfig: str, relay: Relay
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    api.create(path, config_map("before"))
    client: Any = await kr8s.asyncio.api(kubeconfig=relayed_kubeconfig)
    stream = client.watch("configmaps", namespace=namespace)
    kind, before = await anext(stream)
    assert (kind, before.name) == ("ADDED", "before")
    with relay.cut():
        api.create(path, config_map("after"))
    with pytest.raises(httpx.TransportError):
        await anext(stream)
    again = client.watch("configmaps", namespace=namespace, since=before.metadata.resourceVersion)
    kind, after = await anext(again)
    assert (kind, after.name) == ("ADDED", "after")
    await again.aclose()
    await client._session.aclose()
