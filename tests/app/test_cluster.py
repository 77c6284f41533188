"""Objects of a new cluster, and their restoration after a deletion."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.app.cluster import run_cluster
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.strategy import Context
from sampan.registry.write.own import delete
from sampan.server.post_start_hooks.kubernetes_service import KEEP_INTERVAL_S, KubernetesService
from sampan.storage.encoding import encode
from sampan.storage.memory import MemoryStore
from sampan.storage.store import Store
from sampan.testing.time.virtual_time import virtual_time

KUBERNETES = (("", "services"), ("", "endpoints"), ("discovery.k8s.io", "endpointslices"))


@asynccontextmanager
async def _running(
    store: Store, *, address: str = "127.0.0.1", default_account: bool = False
) -> AsyncIterator[Cluster]:
    cluster, started = Cluster(store), asyncio.Event()
    service = KubernetesService(cluster.endpoint, cluster.clock, port=6443, address=address)
    async with asyncio.TaskGroup() as group:
        running = run_cluster(cluster, service=service, started=started.set, default_account=default_account)
        task = group.create_task(running)
        await started.wait()
        try:
            yield cluster
        finally:
            task.cancel()


def _found(cluster: Cluster, group: str, resource: str) -> Object:
    found = cluster.reader.get(group, resource, "default", "kubernetes")
    assert found is not None
    return found


async def _delete(cluster: Cluster, group: str, resource: str, namespace: str, name: str) -> None:
    endpoint = cluster.endpoint(group, "v1", resource)
    assert endpoint is not None
    context = Context(user="admin", groups=("system:masters",), namespace=namespace, name=name)
    await delete(endpoint.store, context, cluster.clock)


def _names(cluster: Cluster, resource: str) -> list[tuple[str, str]]:
    metadata = [obj["metadata"] for obj in cluster.reader.list("", resource)]
    return [(each["namespace"], each["name"]) for each in metadata]


async def test_the_account_of_the_first_pods_is_there_from_the_beginning() -> None:
    async with _running(MemoryStore(), default_account=True) as cluster:
        assert _names(cluster, "serviceaccounts") == [("default", "default")]


async def test_there_is_no_account_where_pods_need_none() -> None:
    async with _running(MemoryStore()) as cluster:
        assert _names(cluster, "serviceaccounts") == []


async def test_services_have_addresses_of_the_network_that_is_stored() -> None:
    store = MemoryStore()
    await store.open()
    network = {"kind": "ServiceCIDR", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": "kubernetes"}}
    await store.create("/registry/servicecidrs/kubernetes", encode({**network, "spec": {"cidrs": ["10.7.0.0/24"]}}))
    async with _running(store) as cluster:
        assert _found(cluster, "", "services")["spec"]["clusterIP"] == "10.7.0.1"
        assert cluster.allocators.ips["IPv4"].allocate_next().startswith("10.7.0.")


async def test_the_service_leads_to_the_server() -> None:
    async with _running(MemoryStore(), address="10.1.2.3") as cluster:
        port = {"name": "https", "port": 6443, "protocol": "TCP"}
        endpoints = _found(cluster, "", "endpoints")
        assert endpoints["subsets"] == [{"addresses": [{"ip": "10.1.2.3"}], "ports": [port]}]
        assert endpoints["metadata"]["labels"] == {"endpointslice.kubernetes.io/skip-mirror": "true"}
        found = _found(cluster, "discovery.k8s.io", "endpointslices")
        assert found["metadata"]["labels"] == {"kubernetes.io/service-name": "kubernetes"}
        assert found["endpoints"] == [{"addresses": ["10.1.2.3"], "conditions": {"ready": True}}]
        assert (found["addressType"], found["ports"]) == ("IPv4", [port])


async def test_a_start_at_another_address_is_reported() -> None:
    store = MemoryStore()
    async with _running(store, address="10.1.2.3") as cluster:
        before = _found(cluster, "", "endpoints")["metadata"]["uid"]
    async with _running(store, address="::1") as cluster:
        endpoints = _found(cluster, "", "endpoints")
        assert (endpoints["metadata"]["uid"], endpoints["subsets"][0]["addresses"]) == (before, [{"ip": "::1"}])
        assert _found(cluster, "discovery.k8s.io", "endpointslices")["addressType"] == "IPv6"


@virtual_time
async def test_deleted_objects_of_the_kubernetes_service_are_created_again() -> None:
    async with _running(MemoryStore()) as cluster:
        before = {each: _found(cluster, *each)["metadata"]["uid"] for each in KUBERNETES}
        await _delete(cluster, "", "services", "default", "kubernetes")  # The Endpoints go with it.
        await _delete(cluster, "discovery.k8s.io", "endpointslices", "default", "kubernetes")
        await asyncio.sleep(1.5 * KEEP_INTERVAL_S)
        assert all(_found(cluster, *each)["metadata"]["uid"] != uid for each, uid in before.items())
        assert _found(cluster, "", "services")["spec"]["clusterIP"] == "10.96.0.1"


@virtual_time
async def test_a_system_namespace_comes_back() -> None:
    async with _running(MemoryStore()) as cluster:
        row = await cluster.store.get("/registry/namespaces/kube-node-lease")
        assert row is not None
        await cluster.store.delete(row.key, row.mod_revision)
        await asyncio.sleep(1.5 * KEEP_INTERVAL_S)
        assert cluster.reader.get("", "namespaces", "", "kube-node-lease") is not None
