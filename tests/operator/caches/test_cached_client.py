"""Reading from caches and seeing one's own writes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sampan.client.errors import NotFound
from sampan.client.options import DeleteOptions, ListOptions
from sampan.client.patch import MergePatch
from sampan.client.resource_client import ResourceClient
from sampan.core.gvk import GroupVersionResource
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.caches.cache import InformerCache, StaleCache
from sampan.operator.caches.cached_client import CachedClient
from sampan.resource import Object, ResourceInfo, dynamic
from tests.operator.cluster import CONFIG_MAPS, SECRETS, cluster_client

NAMESPACES = ResourceInfo(GroupVersionResource("", "v1", "namespaces"), "Namespace", namespaced=False)


def config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@asynccontextmanager
async def cached(*, namespace: str = "", timeout_s: float = 10.0) -> AsyncIterator[CachedClient]:
    """A client whose config maps are read from an informer that runs."""
    async with cluster_client() as client, asyncio.TaskGroup() as tasks:
        list_watch = client.resource(CONFIG_MAPS, namespace=namespace).list_watch()
        informer = SharedInformer(list_watch, dynamic(CONFIG_MAPS))
        task = tasks.create_task(informer.run())
        made = CachedClient(client, timeout_s=timeout_s)
        made.read_from(informer, namespace=namespace)
        yield made
        task.cancel()


async def test_every_write_is_read_back_at_once() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        for number in range(20):
            await maps.create(config_map(f"a{number}"))
            assert (await maps.get(f"a{number}")).get("data") is None
            await maps.patch(f"a{number}", MergePatch({"data": {"n": "1"}}))
            got = await maps.get(f"a{number}")
            assert got["data"] == {"n": "1"}
            got["data"]["n"] = "2"
            await maps.update(got)
            assert (await maps.get(f"a{number}"))["data"] == {"n": "2"}


async def test_a_list_has_all_writes_of_its_client() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS, namespace="default")
        await asyncio.gather(*(maps.create(config_map(f"a{number}")) for number in range(10)))
        found = await maps.list()
        assert [obj["metadata"]["name"] for obj in found] == sorted(f"a{number}" for number in range(10))
        assert found.resource_version


async def test_a_deleted_object_is_not_found_until_it_is_created_again() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.create(config_map("a"))
        await maps.get("a")
        await maps.delete("a")
        with pytest.raises(NotFound, match='configmaps "a" not found'):
            await maps.get("a")
        assert len(await maps.list()) == 0
        await maps.create(config_map("a", again="yes"))
        assert (await maps.get("a"))["data"] == {"again": "yes"}


async def test_a_deleted_object_with_finalizers_is_returned_with_its_deletion_timestamp() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        obj = config_map("a")
        obj["metadata"]["finalizers"] = ["example.com/wait"]
        await maps.create(obj)
        await maps.delete("a")
        assert (await maps.get("a"))["metadata"]["deletionTimestamp"]


async def test_reads_come_from_the_cache_and_belong_to_the_caller() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.create(config_map("a", key="value"))
        (await maps.get("a"))["data"]["key"] = "changed"
        got = await maps.get("a")
        assert got["data"]["key"] == "value"
        assert "managedFields" not in got["metadata"]
        assert "managedFields" in (await client.direct.resource(CONFIG_MAPS).get("a"))["metadata"]


async def test_selectors_are_applied_in_the_cache() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS, namespace="default")
        for name, color in (("a", "red"), ("b", "blue")):
            obj = config_map(name)
            obj["metadata"]["labels"] = {"color": color}
            await maps.create(obj)
        found = await maps.list_all(ListOptions(label_selector="color=red"))
        assert [obj["metadata"]["name"] for obj in found] == ["a"]


@pytest.mark.parametrize(
    "options", [ListOptions(limit=1), ListOptions(field_selector="metadata.name=a")], ids=["page", "field selector"]
)
async def test_requests_that_the_cache_does_not_support_go_to_the_server(options: ListOptions) -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS, namespace="default")
        for name in ("a", "b"):
            await maps.create(config_map(name, key="value"))
        [found] = await maps.list(options)
        assert "managedFields" in found["metadata"]
        assert "managedFields" in (await maps.get("a", resource_version="0"))["metadata"]


async def test_kinds_that_no_client_watches_are_called_of_the_server_until_a_client_does() -> None:
    async with cached() as client, asyncio.TaskGroup() as tasks:
        assert (client.is_cached(CONFIG_MAPS), client.is_cached(SECRETS)) == (True, False)
        secrets = client.resource(SECRETS)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}
        await secrets.create(secret)
        assert "managedFields" in (await secrets.get("s"))["metadata"]
        informer = SharedInformer(client.direct.resource(SECRETS).list_watch(), dynamic(SECRETS))
        task = tasks.create_task(informer.run())
        client.read_from(informer)
        assert "managedFields" not in (await secrets.get("s"))["metadata"]
        task.cancel()


async def test_namespaces_that_the_cache_does_not_hold_are_called_of_the_server() -> None:
    async with cached(namespace="default") as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.create(config_map("a", key="value"))
        assert "managedFields" not in (await maps.get("a"))["metadata"]
        elsewhere: ResourceClient[Object] = maps.in_namespace("kube-system")
        await elsewhere.create(config_map("b", key="value"))
        assert "managedFields" in (await elsewhere.get("b"))["metadata"]


async def test_applies_are_read_back_too() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.apply(config_map("a", n="1"), field_manager="me")
        assert (await maps.get("a"))["data"] == {"n": "1"}


async def test_a_cache_that_does_not_keep_up_is_an_error() -> None:
    async with cluster_client() as client:
        informer = SharedInformer(client.resource(CONFIG_MAPS).list_watch(), dynamic(CONFIG_MAPS))
        stale = CachedClient(client, timeout_s=0.01)
        stale.read_from(informer)
        maps = stale.resource(CONFIG_MAPS)
        with pytest.raises(StaleCache, match=r"has not reached its first list in 0\.01 s"):
            await maps.get("a")
        made = await maps.create(config_map("a"))
        version = made["metadata"]["resourceVersion"]
        for _ in range(2):
            with pytest.raises(StaleCache, match=f"configmaps has not reached {version}"):
                await maps.list()
        with pytest.raises(StaleCache, match=version):
            await maps.get("a")


async def test_status_writes_are_read_back_too() -> None:
    async with cached() as client, asyncio.TaskGroup() as tasks:
        namespaces = client.resource(NAMESPACES)
        informer = SharedInformer(namespaces.list_watch(), dynamic(NAMESPACES))
        task = tasks.create_task(informer.run())
        client.read_from(informer)
        for number in range(10):
            condition = {"type": "Tested", "status": "True", "reason": "Yes", "message": str(number)}
            await namespaces.status.patch("default", MergePatch({"status": {"conditions": [condition]}}))
            assert (await namespaces.get("default"))["status"]["conditions"][0]["message"] == str(number)
        task.cancel()


async def test_a_deletion_that_was_only_tried_hides_nothing() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        await maps.create(config_map("a"))
        await maps.delete("a", DeleteOptions(dry_run=True))
        assert (await maps.get("a"))["metadata"]["name"] == "a"


async def test_invalid_names_are_refused_without_a_request() -> None:
    async with cached() as client:
        with pytest.raises(ValueError, match="must not be empty"):
            await client.resource(CONFIG_MAPS).get("")
        with pytest.raises(ValueError, match="choose a namespace"):
            await client.resource(CONFIG_MAPS, namespace="").get("a")


async def test_indexes_have_all_writes_of_their_client() -> None:
    async with cluster_client() as client, asyncio.TaskGroup() as tasks:
        list_watch = client.resource(CONFIG_MAPS, namespace="").list_watch()
        indexers = {"first": lambda ref: [ref.name[0]]}
        informer = SharedInformer(list_watch, dynamic(CONFIG_MAPS), indexers=indexers)
        task = tasks.create_task(informer.run())
        cached_client = CachedClient(client)
        with pytest.raises(LookupError, match="configmaps is not watched"):
            await cached_client.resource(CONFIG_MAPS).by_index("first", "a")
        cached_client.read_from(informer)
        maps = cached_client.resource(CONFIG_MAPS)
        for name in ("a1", "b1", "a2", "c1"):
            await maps.create(config_map(name))
        found = await maps.by_index("first", "a", "c")
        assert sorted(obj["metadata"]["name"] for obj in found) == ["a1", "a2", "c1"]
        task.cancel()


async def test_writes_that_have_reached_the_cache_are_forgotten() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        for number in range(30):
            await maps.create(config_map(f"a{number}"))
            await maps.get(f"a{number}")
            await maps.delete(f"a{number}")
        last = await maps.create(config_map("last"))
        cache = client._caches[CONFIG_MAPS]
        assert isinstance(cache, InformerCache)
        await cache._informer.at_least(last["metadata"]["resourceVersion"], timeout_s=10)
        await maps.patch("last", MergePatch({"data": {"n": "1"}}))
        assert list(cache._written) == ["default/last"]
        assert len(cache._gone) == 0


async def test_an_object_that_is_made_and_deleted_before_the_cache_sees_it_stays_unseen() -> None:
    async with cached() as client:
        maps = client.resource(CONFIG_MAPS)
        for number in range(30):
            await maps.create(config_map("a", n=str(number)))
            await maps.delete("a")
            with pytest.raises(NotFound):
                await maps.get("a")
            assert list(await maps.list()) == []
