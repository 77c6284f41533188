"""`SharedInformerFactory`: one informer for each collection."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from sampan.client.client import Client
from sampan.client.objects.partial_metadata import PartialObjectMetadata, partial_metadata
from sampan.core.gvk import GroupVersionResource
from sampan.http.client.address import ServerAddress
from sampan.http.client.transport import HttpTransport
from sampan.informer import Scope, SharedInformer, SharedInformerFactory, wait_for_cache_sync
from sampan.resource import Object, ObjectType, ResourceInfo, dynamic
from sampan.testing.time.virtual_time import virtual_time
from tests.informer.server import WIDGETS, FakeServer, Recorder, informer_of, running, state_of, store_of

GADGETS = ResourceInfo(GroupVersionResource("example.com", "v1", "gadgets"), "Gadget", True)


@dataclass
class FakeClient:
    """One server for all resources; it records the requested ones."""

    server: FakeServer
    requested: list[tuple[str, str | None, str, str]] = field(default_factory=list)

    def resource(self, what: Any, *, namespace: str | None = None) -> "FakeResource":
        object_type = what if isinstance(what, ObjectType) else dynamic(what)
        return FakeResource(self, object_type, namespace)


@dataclass
class FakeResource:
    client: FakeClient
    object_type: ObjectType[Any]
    namespace: str | None

    def list_watch(self, *, label_selector: str = "", field_selector: str = "") -> FakeServer:
        plural = self.object_type.info.gvr.resource
        self.client.requested.append((plural, self.namespace, label_selector, field_selector))
        return self.client.server

    def metadata_only(self) -> "FakeResource":
        return FakeResource(self.client, partial_metadata(self.object_type.info), self.namespace)


def new_factory(**options: Any) -> tuple[FakeClient, SharedInformerFactory]:
    server = FakeServer()
    server.put("a")
    client = FakeClient(server)
    return client, SharedInformerFactory(client, **options)


@virtual_time
async def test_the_same_collection_has_one_informer() -> None:
    _, factory = new_factory()
    informer = factory.informer_for(WIDGETS)
    assert factory.informer_for(WIDGETS) is informer
    assert factory.informer_for(WIDGETS.info) is informer, "dicts either way"
    assert factory.informers == [informer]


@virtual_time
async def test_each_namespace_selector_type_and_transform_has_a_separate_informer() -> None:
    client, factory = new_factory(namespace="home")
    informers: list[SharedInformer[Any]] = [
        factory.informer_for(WIDGETS),
        factory.informer_for(WIDGETS, Scope("other")),
        factory.informer_for(WIDGETS, Scope("")),
        factory.informer_for(WIDGETS, Scope(label_selector="a=b")),
        factory.informer_for(WIDGETS, Scope(field_selector="metadata.name=a")),
        factory.informer_for(WIDGETS, transform=bytes),
        factory.informer_for(GADGETS),
        factory.metadata_informer_for(WIDGETS),
    ]
    assert len(set(informers)) == len(factory.informers) == 8
    assert client.requested == [
        ("widgets", "home", "", ""),
        ("widgets", "other", "", ""),
        ("widgets", "", "", ""),
        ("widgets", "home", "a=b", ""),
        ("widgets", "home", "", "metadata.name=a"),
        ("widgets", "home", "", ""),
        ("gadgets", "home", "", ""),
        ("widgets", "home", "", ""),
    ]


@virtual_time
async def test_start_starts_those_that_are_not_running_and_shutdown_ends_all() -> None:
    client, factory = new_factory()
    first = factory.informer_for(WIDGETS)
    async with asyncio.TaskGroup() as tasks:
        await factory.start(tasks)
        await factory.wait_for_cache_sync(timeout_s=60)
        second = factory.informer_for(GADGETS)
        await factory.start(tasks)
        await factory.wait_for_cache_sync(timeout_s=60)
        assert store_of(first) == store_of(second) == state_of(client.server)
        await factory.shutdown()
    assert first.stopped
    assert second.stopped
    assert client.server.open_watches == 0


@virtual_time
async def test_a_removed_informer_ends_and_is_made_again_when_it_is_requested() -> None:
    _, factory = new_factory()
    informer = factory.informer_for(WIDGETS)
    async with asyncio.TaskGroup() as tasks:
        await factory.start(tasks)
        await factory.wait_for_cache_sync()
        await factory.remove(informer)
        assert informer.stopped
        assert factory.informer_for(WIDGETS) is not informer
    await factory.remove(informer)


@virtual_time
async def test_a_cache_that_does_not_sync_is_named() -> None:
    server = FakeServer()
    never = informer_of(server)
    with pytest.raises(TimeoutError, match=r"informer of widgets\.example\.com"):
        await wait_for_cache_sync(never, timeout_s=5)


@virtual_time
async def test_informers_and_handlers_can_be_waited_for_together() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    registration = informer.add_handler(Recorder())
    async with running(informer):
        await wait_for_cache_sync(informer, registration, timeout_s=5)
        assert informer.has_synced()
        assert registration.has_synced()


async def test_a_real_client_serves_a_factory() -> None:
    transport = HttpTransport(ServerAddress("http", "127.0.0.1", 1))
    async with Client(transport, namespace="home") as client:
        factory = SharedInformerFactory(client, namespace="ns")
        whole: SharedInformer[Object] = factory.informer_for(GADGETS)
        reduced: SharedInformer[PartialObjectMetadata] = factory.metadata_informer_for(GADGETS)
    assert str(whole) == "informer of gadgets.example.com"
    assert factory.informers == [whole, reduced]
