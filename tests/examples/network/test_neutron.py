"""`NeutronBackend` against a real Neutron."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from network_operator.backend import Refused, Unavailable
from network_operator.neutron import NeutronBackend
from network_operator.plan import ActualNetwork, Desired
from neutron_server.launch import Neutron, free_port

# The first test of a session installs Neutron (a minute) and starts it.
pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::openstack.warnings._RemovedInSDKWarning"),
]


@pytest.fixture
async def backend(neutron: Neutron) -> AsyncIterator[NeutronBackend]:
    """Return a backend for the Neutron."""
    made = NeutronBackend(neutron.url)
    yield made
    await made.aclose()


@pytest.fixture
def desired() -> Desired:
    """Return a desired network that does not exist yet."""
    return Desired(f"tests/{uuid.uuid4()}", "default/a", "10.0.0.0/16", "10.0.0.1")


async def _made(backend: NeutronBackend, desired: Desired) -> ActualNetwork:
    await backend.create_network(desired)
    [network] = await backend.find(desired.identity)
    await backend.create_subnet(network.id, desired)
    [network] = await backend.find(desired.identity)
    return network


async def test_a_network_is_found_by_its_identity(backend: NeutronBackend, desired: Desired) -> None:
    network = await _made(backend, desired)
    assert network.name == "default/a"
    assert [(subnet.cidr, subnet.gateway) for subnet in network.subnets] == [("10.0.0.0/16", "10.0.0.1")]


async def test_network_that_was_not_created_is_not_found(backend: NeutronBackend, desired: Desired) -> None:
    assert await backend.find(desired.identity) == []


async def test_a_gateway_within_the_allocation_pool_can_be_chosen(backend: NeutronBackend, desired: Desired) -> None:
    network = await _made(backend, desired)
    await backend.update_gateway(network.subnets[0].id, replace(desired, gateway="10.0.7.7"))
    [network] = await backend.find(desired.identity)
    assert network.subnets[0].gateway == "10.0.7.7"


async def test_deleting_a_subnet_twice_succeeds(backend: NeutronBackend, desired: Desired) -> None:
    network = await _made(backend, desired)
    await backend.delete_subnet(network.subnets[0].id)
    await backend.delete_subnet(network.subnets[0].id)
    assert await backend.find(desired.identity) == [ActualNetwork(network.id, "default/a")]


async def test_deleting_a_network_with_its_subnet_twice_succeeds(backend: NeutronBackend, desired: Desired) -> None:
    network = await _made(backend, desired)
    await backend.delete_network(network.id)
    await backend.delete_network(network.id)
    assert await backend.find(desired.identity) == []


async def test_a_network_is_renamed(backend: NeutronBackend, desired: Desired) -> None:
    network = await _made(backend, desired)
    await backend.rename_network(network.id, "default/b")
    assert [each.name for each in await backend.find(desired.identity)] == ["default/b"]


async def test_two_networks_of_one_object_are_both_found(backend: NeutronBackend, desired: Desired) -> None:
    await backend.create_network(desired)
    await backend.create_network(desired)
    assert len(await backend.find(desired.identity)) == 2


async def test_request_that_neutron_rejects_is_refused(backend: NeutronBackend, desired: Desired) -> None:
    network = await _made(backend, desired)
    with pytest.raises(Refused, match="overlaps"):
        await backend.create_subnet(network.id, desired)


async def test_changing_a_deleted_network_is_unavailable(backend: NeutronBackend, desired: Desired) -> None:
    with pytest.raises(Unavailable):
        await backend.rename_network(str(uuid.uuid4()), "x")


async def test_missing_neutron_is_unavailable(desired: Desired) -> None:
    backend = NeutronBackend(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(Unavailable, match="Unable to"):
        await backend.find(desired.identity)
    await backend.aclose()
