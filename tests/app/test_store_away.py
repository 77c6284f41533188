"""A server whose store is away for a while: its loops go on when the store is back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sampan.app.cluster import run_cluster
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.strategy import Context
from sampan.registry.write.own import create, delete
from sampan.server.post_start_hooks.api_servers.addresses import Address, ServerAddresses
from sampan.server.post_start_hooks.kubernetes_service import KubernetesService
from sampan.storage.memory import MemoryStore
from sampan.storage.store import KeyValue, OutcomeUnknown, RangeResult, Revision, StoreFull, StoreUnreachable
from sampan.testing.time.virtual_time import virtual_time

CRDS = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")
LONG_S = 900.0
"""Each loop has its turn in it, the compactor too."""


class LeavingStore(MemoryStore):
    """Store that can be unavailable. The result of a write is unknown then."""

    away = False
    writes_left: int | None = None
    """Number of writes that still succeed before the store is unavailable."""
    full = False

    async def revision(self) -> Revision:
        self._check()
        return await super().revision()

    async def get(self, key: str) -> KeyValue | None:
        self._check()
        return await super().get(key)

    async def range(
        self, start: str, end: str, *, limit: int = 0, revision: int = 0, count: bool = True
    ) -> RangeResult:
        self._check()
        return await super().range(start, end, limit=limit, revision=revision, count=count)

    async def create(self, key: str, value: bytes, *, ttl_s: int = 0) -> Revision:
        self._check_write()
        return await super().create(key, value, ttl_s=ttl_s)

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        self._check_write()
        return await super().update(key, value, expected, ttl_s=ttl_s)

    async def delete(self, key: str, expected: int) -> Revision:
        self._check_write()
        return await super().delete(key, expected)

    def _check(self) -> None:
        if self.away:
            raise StoreUnreachable("away")

    def _check_write(self) -> None:
        if self.full:
            raise StoreFull("no room")
        if self.writes_left is not None:
            self.away = self.writes_left <= 0
            self.writes_left = None if self.away else self.writes_left - 1
        if self.away:
            raise OutcomeUnknown("away")


@asynccontextmanager
async def starting(store: MemoryStore, port: int = 6443) -> AsyncIterator[tuple[Cluster, asyncio.Event]]:
    cluster, started = Cluster(store), asyncio.Event()
    servers = ServerAddresses(store, Address("10.1.2.3", port))
    service = KubernetesService(cluster.endpoint, cluster.clock, port=port, address="10.1.2.3", servers=servers)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_cluster(cluster, service=service, started=started.set, default_account=True))
        try:
            yield cluster, started
        finally:
            task.cancel()


def crd(plural: str) -> Object:
    singular = plural[:-1]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": singular, "kind": singular.title(), "listKind": f"{plural}list"},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
            ],
        },
    }


async def make(cluster: Cluster, plural: str) -> None:
    endpoint = cluster.endpoint(*CRDS)
    assert endpoint is not None
    context = Context(user="admin", groups=("system:masters",))
    await create(endpoint.store, context, crd(plural), cluster.clock)


def conditions(cluster: Cluster, plural: str) -> set[str]:
    found = cluster.reader.get("apiextensions.k8s.io", "customresourcedefinitions", "", f"{plural}.example.com") or {}
    return {each["type"] for each in (found.get("status", {}).get("conditions") or ()) if each["status"] == "True"}


@virtual_time
async def test_a_server_outlives_a_store_that_is_away_for_long() -> None:
    store = LeavingStore()
    async with starting(store) as (cluster, started):
        await started.wait()
        await make(cluster, "widgets")
        store.away = True
        await asyncio.sleep(LONG_S)
        store.away = False
        await make(cluster, "gadgets")
        await asyncio.sleep(10)
        assert "Established" in conditions(cluster, "gadgets")


@virtual_time
async def test_a_crd_whose_status_could_not_be_written_is_established_when_the_store_is_back() -> None:
    store = LeavingStore()
    async with starting(store) as (cluster, started):
        await started.wait()
        store.writes_left = 1
        await make(cluster, "widgets")
        await asyncio.sleep(20)
        assert conditions(cluster, "widgets") == set()
        store.away = False
        await asyncio.sleep(2)
        assert "Established" in conditions(cluster, "widgets")


@virtual_time
async def test_a_crd_whose_end_could_not_be_written_ends_when_the_store_is_back() -> None:
    store = LeavingStore()
    async with starting(store) as (cluster, started):
        await started.wait()
        await make(cluster, "widgets")
        await asyncio.sleep(2)
        store.writes_left = 1
        endpoint = cluster.endpoint(*CRDS)
        assert endpoint is not None
        context = Context(user="admin", groups=("system:masters",), name="widgets.example.com")
        await delete(endpoint.store, context, cluster.clock)
        await asyncio.sleep(20)
        assert cluster.reader.get("apiextensions.k8s.io", "customresourcedefinitions", "", "widgets.example.com")
        store.away = False
        await asyncio.sleep(5)
        assert not cluster.reader.get("apiextensions.k8s.io", "customresourcedefinitions", "", "widgets.example.com")


@pytest.mark.parametrize("writes", [0, 1, 2, 5, 20, 60])
@virtual_time
async def test_a_server_starts_though_the_store_goes_away_meanwhile(writes: int) -> None:
    store = LeavingStore()
    store.writes_left = writes
    async with starting(store) as (cluster, started):
        await asyncio.sleep(10)
        assert not started.is_set()
        store.away = False
        await asyncio.sleep(10)
        assert started.is_set()
        found = cluster.reader.get("networking.k8s.io", "servicecidrs", "", "kubernetes") or {}
        assert [each["type"] for each in found["status"]["conditions"]] == ["Ready"]


@virtual_time
async def test_a_server_starts_again_on_a_store_without_room_and_reports_where_it_is_when_there_is() -> None:
    store = LeavingStore()
    async with starting(store) as (_, started):
        await started.wait()
    store.full = True
    async with starting(store, port=7443) as (cluster, started):
        await asyncio.wait_for(started.wait(), 5)
        await asyncio.sleep(60)
        store.full = False
        await asyncio.sleep(20)
        found = cluster.reader.get("", "endpoints", "default", "kubernetes") or {}
        assert 7443 in [port["port"] for subset in found["subsets"] for port in subset["ports"]]
