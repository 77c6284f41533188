"""Cluster IPs and node ports: given once, whichever server gives them."""

import asyncio
import datetime
from typing import Any

import pytest

from sampan.registry.allocation.allocators import Holder
from sampan.registry.allocation.ports import KEY
from sampan.server.post_start_hooks.allocation_repair import LEAKS_MIN, AllocationRepair
from sampan.storage.encoding import decode, encode
from sampan.storage.memory import MemoryStore
from tests.server.cluster import Api, served
from tests.server.several.servers import several

SERVICES = "/api/v1/namespaces/default/services"
CIDRS = "/apis/networking.k8s.io/v1/servicecidrs"
ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses"


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


async def addresses(api: Api) -> dict[str, str]:
    """Return the claiming Service of each address."""
    items = (await api.get(ADDRESSES)).body["items"]
    return {item["metadata"]["name"]: item["spec"]["parentRef"]["name"] for item in items}


async def ports(api: Api) -> set[int]:
    """Return the claimed ports."""
    return await api.cluster.claims.ports.taken()


def repair_of(api: Api, **later: float) -> AllocationRepair:
    """A repair, at a later time."""
    cluster = api.cluster
    services = cluster.endpoint("", "v1", "services")
    assert services is not None
    return AllocationRepair(cluster.claims, services.store, Later(datetime.timedelta(**later)))


class Later:
    """A clock that is ahead."""

    def __init__(self, by: datetime.timedelta) -> None:
        self._by = by

    def now(self) -> datetime.datetime:
        return datetime.datetime.now(datetime.UTC) + self._by


async def test_an_address_belongs_to_its_service() -> None:
    async with served() as api:
        made = await api.create(SERVICES, service("web"))
        ip = made["spec"]["clusterIP"]
        address = (await api.get(f"{ADDRESSES}/{ip}")).body
        assert address["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "web"}
        assert address["metadata"]["labels"] == {
            "ipaddress.kubernetes.io/ip-family": "IPv4",
            "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        }
        assert (await addresses(api))["10.96.0.1"] == "kubernetes"
        await api.delete(f"{SERVICES}/web")
        assert (await api.get(f"{ADDRESSES}/{ip}")).code == 404


async def test_the_range_is_shown_as_a_service_cidr() -> None:
    async with served() as api:
        shown = (await api.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes")).body
        assert shown["spec"]["cidrs"] == ["10.96.0.0/16"]
        assert [(c["type"], c["status"]) for c in shown["status"]["conditions"]] == [("Ready", "True")]


async def test_a_refused_or_dry_service_claims_nothing() -> None:
    async with served() as api:
        before = await addresses(api)
        assert (await api.post(SERVICES, service("web", type="NodePort", externalName="?" * 300))).code in (201, 422)
        await api.delete(f"{SERVICES}/web")
        assert (await api.post(SERVICES, service("kubernetes", type="NodePort"))).code == 409
        assert (await api.post(f"{SERVICES}?dryRun=All", service("dry", type="NodePort"))).code == 201
        assert await addresses(api) == before
        assert await ports(api) == set()


async def test_services_that_several_servers_make_at_once_get_different_addresses_and_ports() -> None:
    async with several(3) as servers:
        made = await asyncio.gather(
            *(servers[n % 3].create(SERVICES, service(f"s{n}", type="NodePort")) for n in range(60))
        )
        assert len({item["spec"]["clusterIP"] for item in made}) == 60
        given = {item["spec"]["ports"][0]["nodePort"] for item in made}
        assert len(given) == 60
        assert await ports(servers[0]) == given


@pytest.mark.parametrize(
    "spec",
    [{"clusterIP": "10.96.0.77"}, {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30077}]}],
    ids=["address", "port"],
)
async def test_an_address_requested_from_two_servers_is_allocated_once(spec: dict[str, Any]) -> None:
    async with several(2) as servers:
        requested = (servers[n % 2].post(SERVICES, service(f"s{n}", **spec)) for n in range(6))
        codes = [response.code for response in await asyncio.gather(*requested)]
        assert sorted(codes) == [201, 422, 422, 422, 422, 422]


async def test_an_address_freed_by_one_server_is_allocated_by_another() -> None:
    async with several(2) as (a, b):
        spec = {"clusterIP": "10.96.0.77", "type": "NodePort", "ports": [{"port": 80, "nodePort": 30077}]}
        for n, (one, other) in enumerate([(a, b), (b, a), (a, b)]):
            await one.create(SERVICES, service(f"s{n}", **spec))
            assert (await other.post(SERVICES, service("other", **spec))).code == 422
            assert (await other.delete(f"{SERVICES}/s{n}")).code == 200
        await b.create(SERVICES, service("last", **spec))


async def test_a_change_of_type_claims_and_frees() -> None:
    async with several(2) as (a, b):
        made = await a.create(SERVICES, service("web"))
        path, ip = f"{SERVICES}/web", made["spec"]["clusterIP"]
        exposed = await b.patch(path, {"spec": {"type": "NodePort"}})
        assert await ports(a) == {exposed.body["spec"]["ports"][0]["nodePort"]}
        hidden = {"spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": None}}
        assert (await a.patch(path, hidden | {"spec": {**hidden["spec"], "clusterIPs": None}})).code == 200
        assert await ports(b) == set()
        assert ip not in await addresses(b)


async def test_services_that_were_stored_without_claims_get_them_at_the_start() -> None:
    store = MemoryStore()
    async with served(store) as api:
        made = await api.create(SERVICES, service("web", type="NodePort"))
    ip, port = made["spec"]["clusterIP"], made["spec"]["ports"][0]["nodePort"]
    for key in (KEY, f"/registry/ipaddresses/{ip}"):
        row = await store.get(key)
        assert row is not None
        await store.delete(key, row.mod_revision)
    async with served(store) as api:
        assert (await addresses(api))[ip] == "web"
        assert await ports(api) == {port}


async def test_claims_without_a_service_are_released_after_a_grace_period() -> None:
    async with served() as api:
        claims = api.cluster.claims
        holder = (await api.create(SERVICES, service("web")))["metadata"]["name"]
        await claims.make(Holder("default", "never-written"), ["10.96.0.9"], [30009])
        await repair_of(api).once()
        assert (await addresses(api))["10.96.0.9"] == "never-written"
        repair = repair_of(api, seconds=62)
        for _ in range(LEAKS_MIN):
            assert await ports(api) == {30009}
            await repair.once()
        assert "10.96.0.9" not in await addresses(api)
        assert holder in (await addresses(api)).values()
        assert await ports(api) == set()


async def test_an_address_that_names_another_service_is_repaired() -> None:
    async with served() as api:
        ip = (await api.create(SERVICES, service("web")))["spec"]["clusterIP"]
        await api.delete(f"{ADDRESSES}/{ip}")
        await api.cluster.claims.make(Holder("default", "gone"), [ip], [])
        await repair_of(api).once()
        assert (await addresses(api))[ip] == "web"


async def test_a_service_cidr_that_is_made_later_gives_addresses_through_all_servers() -> None:
    async with several(2) as (a, b):
        await a.create(CIDRS, {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.97.0.0/29", "fd00::/64"]}})
        for server, ip in ((a, "10.97.0.1"), (b, "10.97.0.2")):
            made = await server.create(SERVICES, service(f"s{ip[-1]}", clusterIP=ip))
            assert (await addresses(server))[ip] == made["metadata"]["name"]
        taken = await a.post(SERVICES, service("other", clusterIP="10.97.0.2"))
        assert taken.message.endswith("failed to allocate IP 10.97.0.2: provided IP is already allocated")


async def test_when_the_first_network_is_full_another_service_cidr_gives_addresses() -> None:
    store = MemoryStore()
    await store.open()
    first = {"kind": "ServiceCIDR", "apiVersion": "networking.k8s.io/v1", "metadata": {"name": "kubernetes"}}
    await store.create("/registry/servicecidrs/kubernetes", encode({**first, "spec": {"cidrs": ["10.9.0.0/30"]}}))
    async with served(store) as api:
        await api.create(SERVICES, service("a"))  # the other of the two addresses is that of the Service kubernetes
        assert "range is full" in (await api.post(SERVICES, service("b"))).message
        await api.create(CIDRS, {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.97.0.0/29"]}})
        made = await api.create(SERVICES, service("b"))
        assert made["spec"]["clusterIP"].startswith("10.97.0.")


async def test_a_service_cidr_that_is_not_ready_or_gone_gives_no_addresses() -> None:
    async with served() as api:
        await api.create(CIDRS, {"metadata": {"name": "more"}, "spec": {"cidrs": ["10.97.0.0/29"]}})
        since = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "", "message": ""}
        unready = {"type": "Ready", "status": "False", **since}
        await api.patch(f"{CIDRS}/more/status", {"status": {"conditions": [unready]}})
        await api.create(CIDRS, {"metadata": {"name": "gone"}, "spec": {"cidrs": ["10.98.0.0/29"]}})
        await api.create(SERVICES, service("kept", clusterIP="10.98.0.1"))
        await api.delete(f"{CIDRS}/gone")
        for ip in ("10.97.0.1", "10.98.0.2"):
            response = await api.post(SERVICES, service("a", clusterIP=ip))
            assert response.message.endswith("the provided network does not match the current range")
        assert (await api.patch(f"{SERVICES}/kept", {"metadata": {"labels": {"a": "b"}}})).code == 200
        assert (await api.delete(f"{SERVICES}/kept")).code == 200
        assert "10.98.0.1" not in await addresses(api)


async def test_the_range_of_node_ports_is_the_one_that_is_stored() -> None:
    """A kube-apiserver with --service-node-port-range refuses a range that is not its own, and its Services have it."""
    store = MemoryStore()
    await store.open()
    record = {"kind": "RangeAllocation", "apiVersion": "v1", "metadata": {}, "range": "20000-20019", "data": "AQA="}
    await store.create("/registry/ranges/servicenodeports", encode(record))
    async with served(store) as api:
        refused = await api.post(SERVICES, service("a", type="NodePort", ports=[{"port": 80, "nodePort": 30008}]))
        assert "The range of valid ports is 20000-20019" in refused.message
        taken = await api.post(SERVICES, service("a", type="NodePort", ports=[{"port": 80, "nodePort": 20008}]))
        assert "provided port is already allocated" in taken.message
        made = await api.create(SERVICES, service("a", type="NodePort", ports=[{"port": 80}]))
        assert 20000 <= made["spec"]["ports"][0]["nodePort"] < 20020
        row = await store.get("/registry/ranges/servicenodeports")
        assert row is not None
        assert decode(row.value)["range"] == "20000-20019"


async def test_the_stored_ports_are_a_range_allocation_as_kubernetes_has_it() -> None:
    async with served() as api:
        await api.create(SERVICES, service("web", type="NodePort", ports=[{"port": 80, "nodePort": 30008}]))
        row = await api.cluster.store.get("/registry/ranges/servicenodeports")
        assert row is not None
        record = decode(row.value)
        assert (record["kind"], record["range"], record["data"]) == ("RangeAllocation", "30000-32767", "AQA=")
