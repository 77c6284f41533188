"""Informers on a whole server in this process: the real lists, streams and watches."""

import asyncio

import pytest

from sampan.client import Client
from sampan.core.gvk import GroupVersionResource
from sampan.informer import InformerSettings, ReflectorSettings, Scope, SharedInformerFactory
from sampan.resource import Object, ResourceInfo
from sampan.testing.time.virtual_time import settle
from tests.client.connected import connected
from tests.client.kinds import Network, NetworkSpec, define
from tests.informer.server import Recorder

CONFIG_MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", True)


def config_map(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}, "data": {"a": "b"}}


def factory_of(client: Client, *, streaming: bool) -> SharedInformerFactory:
    settings = InformerSettings(ReflectorSettings(streaming=streaming, page_size=2))
    return SharedInformerFactory(client, settings=settings)


@pytest.mark.parametrize("streaming", [False, True], ids=["lists", "streams"])
async def test_an_informer_follows_the_server_and_reads_its_own_writes(streaming: bool) -> None:
    async with connected() as (client, _), asyncio.TaskGroup() as tasks:
        maps = client.resource(CONFIG_MAPS, namespace="default")
        for name in ("one", "two", "three"):
            await maps.create(config_map(name, app="web"))
        factory = factory_of(client, streaming=streaming)
        informer = factory.informer_for(CONFIG_MAPS, Scope("default"))
        web = factory.informer_for(CONFIG_MAPS, Scope("", label_selector="app=web"))
        bare = factory.metadata_informer_for(CONFIG_MAPS, Scope("default", field_selector="metadata.name=two"))
        handler = Recorder()
        registration = informer.add_handler(handler)
        await factory.start(tasks)
        await factory.wait_for_cache_sync(timeout_s=30)
        await registration.synced()
        assert informer.metrics.streams == (1 if streaming else 0)
        assert informer.metrics.stream_fallbacks == 0

        two = await maps.get("two")
        two["metadata"]["labels"] = {"app": "db"}
        await maps.update(two)
        await maps.delete("three")
        written = await maps.create(config_map("four"))
        await informer.at_least(written["metadata"]["resourceVersion"], timeout_s=30)
        listed = {obj["metadata"]["name"]: obj for obj in informer.lister().namespaced("default").list()}
        assert listed.keys() >= {"one", "two", "four"}
        assert "three" not in listed
        assert listed["four"]["data"] == {"a": "b"}
        assert "managedFields" not in listed["four"]["metadata"]
        await settle(lambda: handler.notifications[-1].startswith("add default/four"))
        assert [line.partition("@")[0] for line in handler.notifications[-3:]] == [
            "update default/two",
            "delete default/three",
            "add default/four",
        ]

        # What has left the selector is gone; what is reduced has metadata alone.
        await settle(lambda: web.indexer.keys() == ["default/one"])
        assert web.indexer.keys() == ["default/one"]
        (reduced,) = bare.lister().list()
        assert reduced.metadata.name == "two"
        assert b'"data"' not in bare.indexer.refs()[0].raw
        await factory.shutdown()


async def test_declared_kinds_come_as_their_own_type() -> None:
    async with connected() as (client, _), asyncio.TaskGroup() as tasks:
        await define(client)
        factory = factory_of(client, streaming=True)
        informer = factory.informer_for(Network)
        await factory.start(tasks)
        networks = client.resource(Network, namespace="default")
        network = Network(spec=NetworkSpec("10.0.0.0/24"))
        network.metadata.name = "net"
        created = await networks.create(network)
        await factory.wait_for_cache_sync(timeout_s=30)
        await informer.at_least(created.metadata.resource_version, timeout_s=30)
        found = informer.lister().get("default/net")
        assert found is not None
        assert found.spec.cidr == "10.0.0.0/24"
        await factory.shutdown()
