"""The list of living servers: the addresses that the Service kubernetes leads to, and the identity Leases."""

import asyncio
import datetime
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from sampan.app.cluster import run_cluster
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.server.post_start_hooks.api_servers.addresses import PREFIX, TTL_S, Address, ServerAddresses
from sampan.server.post_start_hooks.api_servers.identity_lease import IdentityLease, ServerName
from sampan.server.post_start_hooks.kubernetes_service import KEEP_INTERVAL_S, KubernetesService
from sampan.storage.encoding import decode, encode
from sampan.storage.memory import MemoryStore
from sampan.storage.store import Store, prefix_end
from sampan.testing.time.virtual_time import virtual_time
from tests.server.several.late_store import LateStore

ENDPOINTS = "/registry/services/endpoints/default/kubernetes"
KUBE_APISERVER: Object = {"kind": "Endpoints", "metadata": {}, "subsets": [{"addresses": [{"ip": "10.0.0.9"}]}]}


@dataclass
class Server:
    """A cluster that runs, and the task that runs it."""

    cluster: Cluster
    service: KubernetesService
    task: "asyncio.Task[None]"


@asynccontextmanager
async def server(store: Store, ip: str, port: int = 6443) -> AsyncIterator[Server]:
    late = LateStore(store, late_max_s=0.2)
    cluster, started = Cluster(late), asyncio.Event()
    servers = ServerAddresses(late, Address(ip, port))
    service = KubernetesService(cluster.endpoint, cluster.clock, port=port, address=ip, servers=servers)
    task = asyncio.create_task(run_cluster(cluster, service=service, started=started.set))
    await started.wait()
    try:
        yield Server(cluster, service, task)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def led_to(one: Server) -> list[tuple[str, int]]:
    """Return the targets of the Service by its Endpoints.

    The EndpointSlice has to have those of them that have its port.
    """
    for group, resource in (("", "endpoints"), ("discovery.k8s.io", "endpointslices")):
        endpoint = one.cluster.endpoint(group, "v1", resource)
        assert endpoint is not None
        await endpoint.store.cache.fresh()
    endpoints = one.cluster.reader.get("", "endpoints", "default", "kubernetes")
    found = one.cluster.reader.get("discovery.k8s.io", "endpointslices", "default", "kubernetes")
    assert endpoints is not None
    assert found is not None
    reported = [(a["ip"], s["ports"][0]["port"]) for s in endpoints["subsets"] for a in s["addresses"]]
    port = found["ports"][0]["port"]
    assert [(each["addresses"][0], port) for each in found["endpoints"]] == [one for one in reported if one[1] == port]
    return reported


@virtual_time
async def test_the_service_leads_to_all_living_servers() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    async with AsyncExitStack() as stack:
        a = await stack.enter_async_context(server(store, "10.0.0.1"))
        assert await led_to(a) == [("10.0.0.1", 6443)]
        b = await stack.enter_async_context(server(store, "10.0.0.2"))
        c = await stack.enter_async_context(server(store, "10.0.0.2", 7443))
        everywhere = [("10.0.0.1", 6443), ("10.0.0.2", 6443), ("10.0.0.2", 7443)]
        assert await led_to(a) == everywhere
        await asyncio.sleep(3 * TTL_S)
        assert await led_to(b) == everywhere
        await b.service.end()
        assert await led_to(a) == [("10.0.0.1", 6443), ("10.0.0.2", 7443)]
        b.task.cancel()
        c.task.cancel()  # this one does not sign off
        await asyncio.sleep(TTL_S + 2 * KEEP_INTERVAL_S)
        assert await led_to(a) == [("10.0.0.1", 6443)]
    await store.close()


@virtual_time
async def test_servers_on_loopback_are_led_to_only_where_there_is_no_other() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    async with server(store, "127.0.0.1", 7001) as local, server(store, "127.0.0.1", 7002):
        assert await led_to(local) == [("127.0.0.1", 7001), ("127.0.0.1", 7002)]
        async with server(store, "10.0.0.1") as reached:
            await asyncio.sleep(2 * KEEP_INTERVAL_S)
            assert await led_to(local) == [("10.0.0.1", 6443)]
            await reached.service.end()
            assert await led_to(local) == [("127.0.0.1", 7001), ("127.0.0.1", 7002)]
    await store.close()


@virtual_time
async def test_a_server_on_loopback_is_no_endpoint_for_kube_apiservers() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    async with server(store, "127.0.0.1"):
        assert (await store.range(PREFIX, prefix_end(PREFIX))).items == []
    await store.close()


@virtual_time
async def test_a_kube_apiserver_that_comes_does_not_find_the_port_of_a_server_on_loopback() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    async with server(store, "127.0.0.1", 7001) as local:
        row = await store.get(ENDPOINTS)
        assert row is not None
        found = decode(row.value)
        found["subsets"][0]["addresses"] = [{"ip": "10.0.0.9"}]
        await store.create(f"{PREFIX}10.0.0.9", encode(KUBE_APISERVER))
        await store.update(ENDPOINTS, encode(found), row.mod_revision)
        await asyncio.sleep(2 * KEEP_INTERVAL_S)
        assert local.cluster.reader.get("", "endpoints", "default", "kubernetes") is None
    await store.close()


@virtual_time
async def test_a_server_on_loopback_leaves_foreign_endpoints_as_they_are() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    await store.create(f"{PREFIX}10.0.0.9", encode(KUBE_APISERVER))
    async with server(store, "127.0.0.1") as local:
        await asyncio.sleep(2 * KEEP_INTERVAL_S)
        assert local.cluster.reader.get("", "endpoints", "default", "kubernetes") is None
    await store.close()


def identity(address: str, renewed: str) -> bytes:
    """Return a Lease as kube-apiserver stores it for itself."""
    annotations = {"kubernetes.io/peer-advertise-address": address}
    spec = {"renewTime": renewed, "leaseDurationSeconds": 3600}
    return encode(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"annotations": annotations},
            "spec": spec,
        }
    )


@virtual_time
async def test_the_port_of_a_kube_apiserver_is_the_one_that_it_has_specified_last() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    await store.create(f"{PREFIX}10.0.0.9", encode(KUBE_APISERVER))
    leases = "/registry/leases/kube-system/apiserver-"
    await store.create(f"{leases}a", identity("10.0.0.9:7443", "2026-01-01T00:00:01.000000Z"))
    await store.create(f"{leases}b", identity("10.0.0.9:6443", "2026-01-01T00:00:00.000000Z"))
    async with server(store, "10.0.0.1", 7443) as one:
        assert await led_to(one) == [("10.0.0.1", 7443), ("10.0.0.9", 7443)]
    await store.close()


@pytest.mark.parametrize("found", [7443, 7001], ids=["this server's", "that of one that has gone"])
@virtual_time
async def test_a_port_that_a_kube_apiserver_has_found_and_is_not_its_own_is_withdrawn(found: int) -> None:
    """kube-apiserver then writes its real port."""
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    await store.create(f"{PREFIX}10.0.0.9", encode(KUBE_APISERVER))
    lease = identity("10.0.0.9:6443", "2026-01-01T00:00:01.000000Z")
    await store.create("/registry/leases/kube-system/apiserver-a", lease)
    retained = {"addresses": [{"ip": "10.0.0.9"}], "ports": [{"name": "https", "port": found}]}
    await store.create(ENDPOINTS, encode({**KUBE_APISERVER, "apiVersion": "v1", "subsets": [retained]}))
    async with server(store, "10.0.0.1", 7443):
        assert await store.get(ENDPOINTS) is None
    await store.close()


async def keys_of(store: Store) -> list[str]:
    """Return the keys of the servers that kube-apiservers publish."""
    return [row.key.removeprefix(PREFIX) for row in (await store.range(PREFIX, prefix_end(PREFIX))).items]


@virtual_time
async def test_next_to_a_kube_apiserver_with_another_port_a_server_is_not_published() -> None:
    """A kube-apiserver publishes its port for all addresses: a server with another port would not listen there."""
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    async with server(store, "10.0.0.9", 7443) as one:
        assert await keys_of(store) == ["10.0.0.9:7443"]
        revision = await store.create(f"{PREFIX}10.0.0.9", encode(KUBE_APISERVER))
        await asyncio.sleep(2 * KEEP_INTERVAL_S)
        assert await keys_of(store) == ["10.0.0.9"]
        await store.delete(f"{PREFIX}10.0.0.9", revision)
        await asyncio.sleep(2 * KEEP_INTERVAL_S)
        assert await keys_of(store) == ["10.0.0.9:7443"]
        assert await led_to(one) == [("10.0.0.9", 7443)]
        await one.service.end()
        assert await keys_of(store) == []
    await store.close()


@pytest.mark.parametrize(
    ("ip", "port", "warned"), [("10.0.0.1", 6443, 0), ("10.0.0.1", 7443, 1), ("127.0.0.1", 7443, 0)]
)
@virtual_time
async def test_a_port_other_than_that_of_a_kube_apiserver_is_reported_once(
    ip: str, port: int, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    await store.create(f"{PREFIX}10.0.0.9", encode(KUBE_APISERVER))
    async with server(store, ip, port):
        await asyncio.sleep(3 * KEEP_INTERVAL_S)
    await store.close()
    assert len([record for record in caplog.records if "has published another port" in record.message]) == warned


@virtual_time
async def test_the_port_of_a_kube_apiserver_without_a_lease_is_the_one_that_it_publishes() -> None:
    store = MemoryStore(clock=asyncio.get_running_loop().time)
    await store.open()
    await store.create(f"{PREFIX}10.0.0.9", encode(KUBE_APISERVER))
    published = {"addresses": [{"ip": "10.0.0.9"}], "ports": [{"name": "https", "port": 8443}]}
    await store.create(ENDPOINTS, encode({**KUBE_APISERVER, "apiVersion": "v1", "subsets": [published]}))
    assert await ServerAddresses(store, Address("10.0.0.1", 6443)).present() == [Address("10.0.0.9", 8443)]
    await store.close()


class Hours:
    """A clock."""

    def __init__(self) -> None:
        self.time = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

    def now(self) -> datetime.datetime:
        return self.time


def leases(cluster: Cluster) -> list[dict[str, Any]]:
    return cluster.reader.list("coordination.k8s.io", "leases", "kube-system")


async def test_each_server_has_a_lease_and_removes_those_that_have_expired() -> None:
    store = MemoryStore()
    async with server(store, "10.0.0.1") as one:
        endpoint = one.cluster.endpoint("coordination.k8s.io", "v1", "leases")
        assert endpoint is not None
        cache, clock = endpoint.store.cache, Hours()
        first = IdentityLease(endpoint.store, clock, ServerName("host", 6443))
        second = IdentityLease(endpoint.store, clock, ServerName("host", 7443))
        await first.renew()
        await second.renew()
        await cache.fresh()
        names = {ServerName("host", port).lease for port in (6443, 7443)}
        assert {lease["metadata"]["name"] for lease in leases(one.cluster)} == names
        lease = leases(one.cluster)[0]
        assert lease["metadata"]["labels"] == {
            "apiserver.kubernetes.io/identity": "kube-apiserver",
            "kubernetes.io/hostname": "host",
        }
        assert lease["spec"]["leaseDurationSeconds"] == 3600
        clock.time += datetime.timedelta(seconds=3601)
        await first.renew()
        await cache.fresh()
        await first.collect()
        await cache.fresh()
        assert [lease["metadata"]["name"] for lease in leases(one.cluster)] == [ServerName("host", 6443).lease]
        await second.remove()
        await first.remove()
        await cache.fresh()
        assert leases(one.cluster) == []
