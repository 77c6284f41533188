"""Networks of a cluster whose servers had them as an option: they are read from the stored allocations of addresses."""

import pytest

from sampan.registry.allocation.networks import RANGE_KEYS, SERVICE_CIDR_KEY
from sampan.storage.memory import MemoryStore
from sampan.storage.translation import Translation, translated
from sampan.wire import protobuf
from sampan.wire.json import encode
from tests.registry.stored import builtin_upgrade, stored
from tests.server.cluster import served
from tests.server.several.test_services import SERVICES, service

SERVICE_CIDR = "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"


async def old_store(*networks: str) -> MemoryStore:
    """Return a store with the networks in it as an old server stored them."""
    store = MemoryStore()
    for key, network in zip(RANGE_KEYS, networks, strict=False):
        await store.create(key, protobuf.encode(stored("v1", "RangeAllocation", range=network, data="")))
    return store


@pytest.mark.parametrize("networks", [["10.43.0.0/16"], ["fd00::/108", "10.43.0.0/16"]], ids=["one", "two"])
async def test_services_get_addresses_of_the_networks_that_the_cluster_had(networks: list[str]) -> None:
    async with served(translated(await old_store(*networks))) as api:
        spec = (await api.create(SERVICES, service("new", ipFamilyPolicy="PreferDualStack")))["spec"]
        assert [ip[:5] for ip in spec["clusterIPs"]] == [network[:5] for network in networks]
        assert (await api.get(SERVICE_CIDR)).body["spec"]["cidrs"] == networks


async def test_the_service_cidr_is_newer_than_what_old_servers_stored() -> None:
    store = await old_store("10.43.0.0/16")
    cidr = stored("networking.k8s.io/v1", "ServiceCIDR", spec={"cidrs": ["10.44.0.0/16"]})
    await store.create(SERVICE_CIDR_KEY, protobuf.encode(cidr))
    async with served(translated(store)) as api:
        assert (await api.create(SERVICES, service("new")))["spec"]["clusterIP"].startswith("10.44.")


async def test_an_unreadable_service_cidr_does_no_harm_where_old_servers_stored_the_networks_too() -> None:
    store = await old_store("10.43.0.0/16")
    await store.create(SERVICE_CIDR_KEY, encode(stored("networking.k8s.io/v1alpha1", "ServiceCIDR")))
    translation = Translation(upgrade=builtin_upgrade())
    async with served(translated(store, translation)) as api:
        assert (await api.create(SERVICES, service("new")))["spec"]["clusterIP"].startswith("10.43.")
