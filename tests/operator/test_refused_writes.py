"""After a write that the server refuses because the cache is behind, the next read goes to the server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client import (
    AlreadyExists,
    ApiError,
    Client,
    Conflict,
    DeleteOptions,
    ListOptions,
    MergePatch,
    NotFound,
    retry_on_conflict,
)
from sampan.client.watching.list_watch import RawList
from sampan.core.gvk import GroupVersionResource
from sampan.informer.settings import InformerSettings, ReflectorSettings
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.caches.cache import StaleCache
from sampan.operator.caches.cached_client import CachedClient, CachedResourceClient
from sampan.resource import Object, ResourceInfo, dynamic
from tests.operator.cluster import CONFIG_MAPS, cluster_client

PLAIN_LISTS = InformerSettings(ReflectorSettings(streaming=False))
PODS = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)


class FrozenWatch:
    """Source of a list, whose watch never has an event."""

    def __init__(self, client: Client) -> None:
        self._source = client.resource(CONFIG_MAPS, namespace="").list_watch()

    async def list(self, options: ListOptions) -> RawList:
        return await self._source.list(options)

    async def watch(self, options: ListOptions) -> AsyncIterator[Any]:
        yield ()
        await asyncio.Event().wait()


@asynccontextmanager
async def frozen(*names: str) -> AsyncIterator[tuple[CachedClient, CachedResourceClient[Object]]]:
    """A client whose cache has the first state of these config maps, and stays behind from then on."""
    async with cluster_client() as client, asyncio.TaskGroup() as tasks:
        for name in names:
            await client.resource(CONFIG_MAPS).create(config_map(name))
        informer = SharedInformer(FrozenWatch(client), dynamic(CONFIG_MAPS), settings=PLAIN_LISTS)
        task = tasks.create_task(informer.run())
        await informer.synced()
        cached = CachedClient(client, timeout_s=0.05)
        cached.read_from(informer)
        yield cached, cached.resource(CONFIG_MAPS)
        task.cancel()


def config_map(name: str, **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def changed_by_another(client: CachedClient, name: str) -> None:
    await client.direct.resource(CONFIG_MAPS).patch(name, MergePatch({"data": {"by": "another"}}))


Write = Callable[[CachedResourceClient[Object], Object], Awaitable[Any]]

CONFLICTS: dict[str, Write] = {
    "update": lambda maps, old: maps.update(old),
    "patch": lambda maps, old: maps.patch("a", MergePatch({"metadata": old["metadata"]})),
    "apply": lambda maps, old: maps.apply(old, field_manager="me", force=True),
    "delete": lambda maps, old: maps.delete("a", DeleteOptions(resource_version=old["metadata"]["resourceVersion"])),
}


@pytest.mark.parametrize("write", CONFLICTS.values(), ids=CONFLICTS.keys())
async def test_after_a_conflict_the_object_is_read_from_the_server(write: Write) -> None:
    async with frozen("a") as (client, maps):
        old = await maps.get("a")
        await changed_by_another(client, "a")
        assert (await maps.get("a"))["metadata"]["resourceVersion"] == old["metadata"]["resourceVersion"]
        with pytest.raises(Conflict):
            await write(maps, old)
        assert (await maps.get("a"))["data"] == {"by": "another"}


async def test_one_conflict_is_enough() -> None:
    conflicts = 0

    async with frozen("a") as (client, maps):
        await changed_by_another(client, "a")

        async def attempt() -> Object:
            nonlocal conflicts
            obj = await maps.get("a")
            obj.setdefault("data", {})["mine"] = "1"
            try:
                return await maps.update(obj)
            except Conflict:
                conflicts += 1
                raise

        written = await retry_on_conflict(attempt)
    assert conflicts == 1
    assert written["data"] == {"by": "another", "mine": "1"}


async def test_after_a_conflict_of_the_status_the_object_is_read_from_the_server() -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    async with cluster_client() as client, asyncio.TaskGroup() as tasks:
        old = await client.resource(PODS).create({"apiVersion": "v1", "kind": "Pod", **pod})
        informer = SharedInformer(client.resource(PODS, namespace="").list_watch(), dynamic(PODS))
        task = tasks.create_task(informer.run())
        cached = CachedClient(client)
        cached.read_from(informer)
        pods = cached.resource(PODS)
        await client.resource(PODS).patch("p", MergePatch({"metadata": {"labels": {"by": "another"}}}))
        for write in (pods.update_status(old), pods.status.update("p", old)):
            with pytest.raises(Conflict):
                await write
            assert (await pods.get("p"))["metadata"]["labels"] == {"by": "another"}
        task.cancel()


async def test_an_existing_object_is_read_from_the_server_after_a_refused_create() -> None:
    async with frozen() as (client, maps):
        await client.direct.resource(CONFIG_MAPS).create(config_map("a", by="another"))
        with pytest.raises(NotFound):
            await maps.get("a")
        with pytest.raises(AlreadyExists):
            await maps.create(config_map("a"))
        assert (await maps.get("a"))["data"] == {"by": "another"}


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda maps, old: maps.update(old), id="update"),
        pytest.param(lambda maps, old: maps.patch("a", MergePatch({})), id="patch"),
        pytest.param(lambda maps, old: maps.delete("a"), id="delete"),
    ],
)
async def test_an_object_deleted_meanwhile_is_not_found_after_a_refused_write(write: Write) -> None:
    async with frozen("a") as (client, maps):
        old = await maps.get("a")
        await client.direct.resource(CONFIG_MAPS).delete("a")
        with pytest.raises(ApiError):
            await write(maps, old)
        with pytest.raises(NotFound):
            await maps.get("a")
        assert list(await maps.list()) == []


async def test_a_list_after_a_conflict_does_not_show_the_old_object() -> None:
    async with frozen("a", "b") as (client, maps):
        old = await maps.get("a")
        await changed_by_another(client, "a")
        with pytest.raises(Conflict):
            await maps.update(old)
        with pytest.raises(StaleCache):
            await maps.list()


async def test_only_the_object_of_the_conflict_is_read_from_the_server() -> None:
    async with frozen("a", "b") as (client, maps):
        old = await maps.get("a")
        for name in ("a", "b"):
            await changed_by_another(client, name)
        with pytest.raises(Conflict):
            await maps.update(old)
        assert "data" not in await maps.get("b")


async def test_a_field_that_another_manager_owns_does_not_make_the_cache_outdated() -> None:
    async with frozen("a") as (client, maps):
        await client.direct.resource(CONFIG_MAPS).apply(config_map("a", x="1"), field_manager="another")
        with pytest.raises(Conflict):
            await maps.apply(config_map("a", x="2"), field_manager="me")
        assert "data" not in await maps.get("a")
