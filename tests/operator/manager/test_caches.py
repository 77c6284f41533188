"""Caches of a manager: several namespaces, selectors, indexes, metadata, and reads of own writes in each."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client.client import Client
from sampan.client.errors import NotFound
from sampan.client.patch import MergePatch
from sampan.core.gvk import GroupVersionResource
from sampan.informer.shared_informer import SharedInformer
from sampan.informer.transform import strip_fields
from sampan.operator import (
    Builder,
    CacheOptions,
    LeaderElectionConfig,
    Manager,
    ManagerOptions,
    NamespaceSelector,
    Request,
)
from sampan.resource import Object, ResourceInfo
from sampan.testing import Cluster
from tests.operator.cluster import CONFIG_MAPS, SECRETS, cluster_client

NAMESPACES = ResourceInfo(GroupVersionResource("", "v1", "namespaces"), "Namespace", namespaced=False)
RED = NamespaceSelector("team=red")
TIME_S = 20.0


def config_map(namespace: str, name: str, labels: dict[str, str] | None = None, **data: str) -> Object:
    metadata = {"namespace": namespace, "name": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


async def add_namespace(client: Client, name: str, **labels: str) -> None:
    await client.resource(NAMESPACES).create({"metadata": {"name": name, "labels": labels}})


class Requests:
    """Reconciler that records the requested keys; `wait` returns when all of some keys were requested."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self._changed = asyncio.Event()

    async def reconcile(self, request: Request) -> None:
        self.keys.append(request.key)
        self._changed.set()

    async def wait(self, *keys: str) -> None:
        async with asyncio.timeout(TIME_S):
            while not set(keys) <= set(self.keys):
                self._changed.clear()
                await self._changed.wait()


@asynccontextmanager
async def running(
    client: Client, options: ManagerOptions, build: Callable[[Builder], object] = lambda builder: None
) -> AsyncIterator[tuple[Manager, Requests]]:
    """Run a manager with a controller of config maps."""
    manager, requests = Manager(client, options), Requests()
    builder = Builder(manager).for_(CONFIG_MAPS)
    build(builder)
    builder.complete(requests)
    task = asyncio.create_task(manager.run())
    try:
        async with asyncio.timeout(TIME_S):
            await manager.elected.wait()
        yield manager, requests
    finally:
        manager.stop()
        await task


async def test_a_list_of_namespaces_is_watched_and_read_from_the_cache() -> None:
    async with cluster_client() as client:
        for name in ("a", "b", "c"):
            await add_namespace(client, name)
            await client.resource(CONFIG_MAPS).create(config_map(name, "one"))
        async with running(client, ManagerOptions(namespaces=["a", "b"])) as (manager, requests):
            await requests.wait("a/one", "b/one")
            maps = manager.client.resource(CONFIG_MAPS, namespace="")
            assert [each["metadata"]["namespace"] for each in await maps.list()] == ["a", "b"]
            for number in range(5):
                await maps.create(config_map("b", f"own-{number}"))
                assert await maps.in_namespace("b").get(f"own-{number}")
            assert len(await maps.in_namespace("b").list()) == 5 + 1
            assert (await maps.in_namespace("c").get("one"))["metadata"]["name"] == "one", "from the server"
            assert not [key for key in requests.keys if key.startswith("c/")]


async def test_namespaces_with_a_label_come_and_go() -> None:
    async with cluster_client() as client:
        await add_namespace(client, "a", team="red")
        await add_namespace(client, "b", team="blue")
        maps = client.resource(CONFIG_MAPS)
        for name in ("a", "b"):
            await maps.create(config_map(name, "one"))
        async with running(client, ManagerOptions(namespaces=RED)) as (manager, requests):
            cached = manager.client.resource(CONFIG_MAPS, namespace="")
            await requests.wait("a/one")
            assert "b/one" not in requests.keys
            namespaces = client.resource(NAMESPACES)
            await namespaces.patch("b", MergePatch({"metadata": {"labels": {"team": "red"}}}))
            await requests.wait("b/one")
            await maps.create(config_map("b", "two"))
            await requests.wait("b/two")
            assert (await cached.create(config_map("b", "three")))["metadata"]["name"] == "three"
            assert (await cached.in_namespace("b").get("three"))["metadata"]["name"] == "three"
            requests.keys.clear()
            await namespaces.patch("b", MergePatch({"metadata": {"labels": {"team": "blue"}}}))
            await requests.wait("b/one", "b/two", "b/three")
            with pytest.raises(NotFound):
                await cached.in_namespace("b").get("one")
            assert {each["metadata"]["namespace"] for each in await cached.list()} == {"a"}
            requests.keys.clear()
            await namespaces.patch("b", MergePatch({"metadata": {"labels": {"team": "red"}}}))
            await requests.wait("b/one", "b/two", "b/three")
            assert (await cached.in_namespace("b").get("one"))["metadata"]["name"] == "one"


async def test_a_namespace_that_the_operator_may_not_read_affects_no_other(cluster: Cluster) -> None:
    admin = cluster.admin()
    rules = [{"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": ["get", "list", "watch"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "all"}}
    await cluster.apply({**role, "rules": rules})
    subject = {"kind": "User", "name": "op", "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "ClusterRole", "name": "all", "apiGroup": "rbac.authorization.k8s.io"}
    bound = {"apiVersion": "rbac.authorization.k8s.io/v1", "roleRef": reference, "subjects": [subject]}
    nodes = {**role, "metadata": {"name": "namespaces"}, "rules": [{**rules[0], "resources": ["namespaces"]}]}
    await cluster.apply(nodes)
    whole = {**bound, "kind": "ClusterRoleBinding", "metadata": {"name": "op"}}
    await cluster.apply({**whole, "roleRef": {**reference, "name": "namespaces"}})
    for name in ("a", "b"):
        await add_namespace(admin, name, team="red" if name == "a" else "blue")
        await admin.resource(CONFIG_MAPS).create(config_map(name, "one"))
    await cluster.apply({**bound, "kind": "RoleBinding", "metadata": {"name": "op", "namespace": "a"}})
    async with running(cluster.client("op", actor="op"), ManagerOptions(namespaces=RED)) as (manager, requests):
        await admin.resource(NAMESPACES).patch("b", MergePatch({"metadata": {"labels": {"team": "red"}}}))
        await asyncio.sleep(5)
        manager._caches.check()
        await admin.resource(CONFIG_MAPS).create(config_map("a", "two"))
        await requests.wait("a/two")
        assert not [key for key in requests.keys if key.startswith("b/")]
        await cluster.apply({**bound, "kind": "RoleBinding", "metadata": {"name": "op", "namespace": "b"}})
        await asyncio.sleep(60)
        assert "b/one" in requests.keys, "the rights came later"


async def test_a_manager_starts_when_no_namespace_has_the_label() -> None:
    async with (
        cluster_client() as client,
        running(client, ManagerOptions(namespaces=RED), _by_data) as (manager, requests),
    ):
        maps = manager.client.resource(CONFIG_MAPS, namespace="")
        assert len(await maps.list()) == 0
        assert await maps.by_index("data", "1") == []
        with pytest.raises(KeyError):
            await maps.by_index("nonsense", "1")
        await add_namespace(client, "late", team="red")
        await client.resource(CONFIG_MAPS).create(config_map("late", "one", n="1"))
        await requests.wait("late/one")
        assert [each["metadata"]["name"] for each in await maps.by_index("data", "1")] == ["one"]


def _by_data(builder: Builder) -> None:
    builder.index(CONFIG_MAPS, "data", lambda obj: (obj.get("data") or {}).values())


@pytest.mark.parametrize("options", [{"namespaces": ["a", "b"]}, {"namespaces": RED}, {"namespace": "a"}, {}], ids=str)
async def test_an_index_of_the_builder_includes_own_writes(options: dict[str, Any]) -> None:
    async with cluster_client() as client:
        for name in ("a", "b"):
            await add_namespace(client, name, team="red")
        async with running(client, ManagerOptions(**options), _by_data) as (manager, _):
            maps = manager.client.resource(CONFIG_MAPS, namespace="a")
            for number in range(5):
                await maps.create(config_map("a", f"own-{number}", n="same"))
                assert len(await maps.by_index("data", "same")) == number + 1
            await maps.delete("own-0")
            assert len(await maps.by_index("data", "same")) == 4
            lister = manager.informer_for(CONFIG_MAPS).lister()
            assert len(lister.by_index("data", "same")) in (4, 5)


@pytest.mark.parametrize(
    "selectors",
    [{"label_selector": "app=boat"}, {"field_selector": "metadata.name!=outside"}],
    ids=["labels", "fields"],
)
async def test_own_writes_are_read_inside_and_outside_of_selectors(selectors: dict[str, Any]) -> None:
    options = ManagerOptions(caches={CONFIG_MAPS: CacheOptions(**selectors)}, read_timeout_s=TIME_S)
    boat = {"app": "boat"}
    async with cluster_client() as client, running(client, options) as (manager, requests):
        maps = manager.client.resource(CONFIG_MAPS, namespace="default")
        async with asyncio.timeout(5):
            await maps.create(config_map("default", "outside", n="1"))
            assert (await maps.get("outside"))["data"] == {"n": "1"}
            await maps.patch("outside", MergePatch({"data": {"n": "2"}}))
            assert (await maps.get("outside"))["data"] == {"n": "2"}
            await maps.create(config_map("default", "inside", boat))
            await requests.wait("default/inside")
            names = [each["metadata"]["name"] for each in await maps.list()]
            assert "inside" in names
            assert "outside" not in names
            await maps.delete("outside")
            with pytest.raises(NotFound):
                await maps.get("outside")
        assert "default/outside" not in requests.keys


async def test_an_own_write_takes_an_object_out_of_the_selection_at_once() -> None:
    options = ManagerOptions(caches={CONFIG_MAPS: CacheOptions(label_selector="app=boat")})
    async with cluster_client() as client, running(client, options) as (manager, requests):
        maps = manager.client.resource(CONFIG_MAPS, namespace="default")
        await maps.create(config_map("default", "one", {"app": "boat"}))
        await requests.wait("default/one")
        await maps.patch("one", MergePatch({"metadata": {"labels": {"app": None}}}))
        assert [each for each in await maps.list() if each["metadata"]["name"] == "one"] == []
        assert "app" not in ((await maps.get("one"))["metadata"].get("labels") or {})
        back = MergePatch({"metadata": {"labels": {"app": "boat"}}})
        patched = await client.resource(CONFIG_MAPS).patch("one", back)
        informer = manager.informer_for(CONFIG_MAPS)
        assert isinstance(informer, SharedInformer)
        await informer.at_least(patched["metadata"]["resourceVersion"], timeout_s=TIME_S)
        assert [each["metadata"]["name"] for each in await maps.list()] == ["one"]


async def test_objects_of_other_selections_are_not_found_in_the_cache() -> None:
    options = ManagerOptions(caches={CONFIG_MAPS: CacheOptions(label_selector="app=boat")})
    async with cluster_client() as client:
        await client.resource(CONFIG_MAPS).create(config_map("default", "foreign"))
        async with running(client, options) as (manager, _):
            with pytest.raises(NotFound):
                await manager.client.resource(CONFIG_MAPS, namespace="default").get("foreign")


async def test_a_kind_has_its_own_namespaces() -> None:
    options = ManagerOptions(namespaces=["a", "b"], caches={SECRETS: CacheOptions(namespaces=["c"])})
    async with cluster_client() as client:
        for name in ("a", "b", "c"):
            await add_namespace(client, name)
        mapped = lambda builder: builder.watches(SECRETS, lambda ref: [Request("secret", ref.name)])  # noqa: E731
        async with running(client, options, mapped) as (_, requests):
            for name in ("a", "c"):
                secret = {"metadata": {"namespace": name, "name": f"in-{name}"}}
                await client.resource(SECRETS).create(secret)
                await client.resource(CONFIG_MAPS).create(config_map(name, "one"))
            await requests.wait("secret/in-c", "a/one")
            assert {"secret/in-a", "c/one"} & set(requests.keys) == set()


@pytest.mark.parametrize("options", [{"namespaces": ["a", "b"]}, {"namespaces": RED}, {}], ids=str)
async def test_a_kind_can_be_reconciled_by_its_metadata(options: dict[str, Any]) -> None:
    async with cluster_client() as client:
        for name in ("a", "b"):
            await add_namespace(client, name, team="red")
        manager, requests = Manager(client, ManagerOptions(**options)), Requests()
        Builder(manager).for_(CONFIG_MAPS, metadata_only=True).complete(requests)
        task = asyncio.create_task(manager.run())
        metadata = manager.client.metadata(CONFIG_MAPS, namespace="a")
        whole = manager.client.resource(CONFIG_MAPS, namespace="a")
        for number in range(5):
            await whole.create(config_map("a", f"own-{number}", n="1"))
            assert (await metadata.get(f"own-{number}")).metadata.name == f"own-{number}"
        await metadata.patch("own-1", MergePatch({"metadata": {"labels": {"seen": "yes"}}}))
        assert (await metadata.get("own-1")).metadata.labels == {"seen": "yes"}
        assert (await whole.get("own-1"))["data"] == {"n": "1"}, "the server has all fields"
        await requests.wait("a/own-1")
        manager.stop()
        await task


async def test_a_transform_makes_the_cache_smaller_and_update_is_refused() -> None:
    options = ManagerOptions(caches={CONFIG_MAPS: CacheOptions(transform=strip_fields("data"))})
    async with cluster_client() as client, running(client, options) as (manager, _):
        maps = manager.client.resource(CONFIG_MAPS, namespace="default")
        await maps.create(config_map("default", "one", n="1"))
        found = await maps.get("one")
        assert "data" not in found
        with pytest.raises(
            ValueError, match="the cache of configmaps removes fields, which an update would delete: use patch"
        ):
            await maps.update(found)
        await maps.patch("one", MergePatch({"metadata": {"labels": {"a": "b"}}}))
        assert (await client.resource(CONFIG_MAPS).get("one"))["data"] == {"n": "1"}
        assert (await manager.client.direct.resource(CONFIG_MAPS).get("one"))["data"] == {"n": "1"}


async def test_the_namespaces_are_followed_before_a_replica_leads() -> None:
    election = LeaderElectionConfig("boats", "default", identity="one")
    async with cluster_client() as client:
        await add_namespace(client, "a", team="red")
        other = Manager(client, ManagerOptions(leader_election=election))
        leading = asyncio.create_task(other.run())
        await other.elected.wait()
        waiting = ManagerOptions(
            namespaces=RED, leader_election=LeaderElectionConfig("boats", "default", identity="two")
        )
        manager, requests = Manager(client, waiting), Requests()
        Builder(manager).for_(CONFIG_MAPS).complete(requests)
        task = asyncio.create_task(manager.run())
        await add_namespace(client, "b", team="red")
        await client.resource(CONFIG_MAPS).create(config_map("b", "one"))
        informer = manager.informer_for(CONFIG_MAPS)
        async with asyncio.timeout(TIME_S):
            await informer.synced()
            await informer.indexer.has_objects()
        assert requests.keys == []
        other.stop()
        await leading
        await requests.wait("b/one")
        manager.stop()
        await task


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ManagerOptions(namespaces="prod"), "must be a list of names, not 'prod'"),
        (lambda: ManagerOptions(namespaces=["a", ""]), "a namespace has no name"),
        (lambda: ManagerOptions(namespace="a", namespaces=["b"]), "not both"),
        (lambda: NamespaceSelector(""), "the selector matches all namespaces"),
        (lambda: NamespaceSelector("a in"), "unable to parse requirement"),
        (lambda: CacheOptions(label_selector="!!"), "unable to parse requirement"),
        (lambda: CacheOptions(field_selector="spec"), "spec"),
        (lambda: CacheOptions(namespaces=[""]), "a namespace has no name"),
    ],
)
def test_invalid_options_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
