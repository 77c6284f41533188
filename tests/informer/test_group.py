"""`InformerGroup`: some namespaces as one."""

import asyncio
from typing import Any

import pytest

from sampan.informer import (
    Deletion,
    EventHandlerFuncs,
    InformerGroup,
    InformerStopped,
    Scope,
    SharedInformerFactory,
)
from sampan.resource import Object
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.informer.server import WIDGETS, FakeServer, Recorder
from tests.informer.test_factory import FakeClient, FakeResource


class ByNamespace(FakeClient):
    """A server for each namespace."""

    def __init__(self) -> None:
        super().__init__(FakeServer())
        self.servers = {"one": FakeServer(), "two": FakeServer(), "three": FakeServer()}
        for namespace, server in self.servers.items():
            server.put("a", namespace=namespace, labels={"in": namespace})

    def resource(self, what: Any, *, namespace: str | None = None) -> FakeResource:
        return FakeResource(FakeClient(self.servers[namespace or ""]), WIDGETS, namespace)


@virtual_time
async def test_some_namespaces_are_read_and_listened_to_as_one() -> None:
    client = ByNamespace()
    factory = SharedInformerFactory(client)
    group: InformerGroup[Object] = factory.informers_for(WIDGETS, ["one", "two", "one"])
    handler = Recorder()
    registration = group.add_handler(handler)
    async with asyncio.TaskGroup() as tasks:
        assert not group.has_synced()
        await factory.start(tasks)
        await group.synced()
        await registration.synced()
        assert group.has_synced()
        assert registration.has_synced()
        client.servers["two"].put("b", namespace="two")
        await group.in_namespace("two").at_least("102")
        await settle()
        assert sorted(handler.notifications) == ["add two/b@102", "add! one/a@101", "add! two/a@101"]
        lister = group.lister()
        assert len(lister.list()) == 3
        assert len(lister.list("in=one")) == 1
        assert [ref.key for ref in lister.namespaced("two").refs()] == ["two/a", "two/b"]
        assert lister.namespaced("three").list() == []
        assert lister.get("two/b") is not None
        assert lister.get("three/a") is None
        with pytest.raises(KeyError):
            lister.by_index("nonsense", "x")
        registration.remove()
        await registration.removed()
        assert registration.pending == 0
        await factory.shutdown()
    assert group.namespaces == ["one", "two"]


@virtual_time
async def test_a_group_shares_its_informers_with_the_factory() -> None:
    factory = SharedInformerFactory(ByNamespace(), namespace="one")
    group = factory.informers_for(WIDGETS, ["one", "two"])
    assert group.in_namespace("one") is factory.informer_for(WIDGETS)
    with pytest.raises(KeyError):
        group.in_namespace("three")


@virtual_time
async def test_a_namespace_joins_and_leaves_a_group_in_use() -> None:
    client = ByNamespace()
    factory = SharedInformerFactory(client)
    group: InformerGroup[Object] = factory.informers_for(WIDGETS, ["one"])
    handler = Recorder()
    registration = group.add_handler(handler)
    group.add_indexer("in", lambda ref: ref.labels.values())
    async with asyncio.TaskGroup() as tasks:
        await factory.start(tasks)
        await registration.synced()
        for _ in range(2):
            group.join("two", factory.informer_for(WIDGETS, Scope("two")))
            await factory.start(tasks)
            await group.synced()
            await registration.synced()
            assert sorted(group.indexer.keys()) == ["one/a", "two/a"]
            assert [ref.key for ref in group.indexer.by_index("in", "two")] == ["two/a"]
            informer = group.leave("two")
            assert informer is not None
            assert group.has_left("two")
            await factory.retire(informer)
            assert informer.stopped
            assert handler.notifications[-2:] == ["add! two/a@101", "lost two/a@101"]
            assert group.indexer.keys() == ["one/a"]
        client.servers["two"].put("late", namespace="two")
        await settle()
        assert handler.present() == {"one/a": "101"}
        registration.remove()
        group.join("two", factory.informer_for(WIDGETS, Scope("two")))
        await factory.start(tasks)
        await group.synced()
        await settle()
        assert "two/late" not in handler.states, "a removed handler gets nothing of a later namespace"
        await factory.shutdown()


@virtual_time
async def test_a_group_without_namespaces_waits_for_its_first_object() -> None:
    client = ByNamespace()
    factory = SharedInformerFactory(client)
    group = factory.informers_for(WIDGETS.info, ["one"])
    group.leave("one")
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(group.indexer.has_objects())
        await settle()
        assert not waiting.done()
        group.join("two", factory.informer_for(WIDGETS, Scope("two")))
        await factory.start(tasks)
        await waiting
        assert len(group.indexer) == 1
        assert "two/a" in group.indexer
        await factory.shutdown()


@virtual_time
async def test_the_end_of_an_informer_waits_for_its_handlers() -> None:
    client = ByNamespace()
    factory = SharedInformerFactory(client)
    informer = factory.informer_for(WIDGETS, Scope("one"))
    deleted: list[str] = []

    async def slow(obj: Deletion[Object]) -> None:
        await asyncio.sleep(60)
        deleted.append(obj.key)

    informer.add_handler(EventHandlerFuncs(delete=slow))
    async with asyncio.TaskGroup() as tasks:
        await factory.start(tasks)
        await informer.synced()
        await factory.retire(informer)
        assert deleted == ["one/a"]
        assert len(informer.indexer) == 0
        with pytest.raises(InformerStopped):
            await informer.at_least("999")
    await informer.end()
