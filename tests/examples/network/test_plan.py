"""Plans of the Network operator, from any state to the desired one."""

import ipaddress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from network_operator.neutron import pools
from network_operator.plan import (
    Action,
    ActualNetwork,
    CreateNetwork,
    CreateSubnet,
    DeleteNetwork,
    DeleteSubnet,
    Desired,
    RenameNetwork,
    Subnet,
    UpdateGateway,
    desired_of,
    plan,
)
from network_operator.types import Network, NetworkSpec
from sampan.resource import ObjectMeta

DESIRED = Desired("id", "default/a", "10.0.0.0/16", "10.0.0.1")
RIGHT = Subnet("s", "10.0.0.0/16", "10.0.0.1")


def _network(*subnets: Subnet, name: str = "default/a", id: str = "n") -> ActualNetwork:
    return ActualNetwork(id, name, subnets)


@pytest.mark.parametrize(
    ("actual", "actions"),
    [
        ([], [CreateNetwork()]),
        ([_network()], [CreateSubnet("n")]),
        ([_network(RIGHT)], []),
        ([_network(RIGHT, name="other")], [RenameNetwork("n")]),
        ([_network(Subnet("s", "10.0.0.0/16", "10.0.0.9"))], [UpdateGateway("s")]),
        ([_network(Subnet("s", "10.1.0.0/16", "10.1.0.1"))], [DeleteSubnet("s"), CreateSubnet("n")]),
        ([_network(RIGHT, Subnet("t", "10.1.0.0/16", "10.1.0.1"))], [DeleteSubnet("t")]),
        ([_network(RIGHT), _network(id="m")], [DeleteNetwork("m")]),
    ],
    ids=["nothing", "no subnet", "right", "renamed", "gateway", "cidr", "subnet too many", "network too many"],
)
def test_plan_lists_the_next_actions(actual: list[ActualNetwork], actions: list[Action]) -> None:
    assert plan(DESIRED, actual) == actions


def test_plan_keeps_the_network_of_the_status_and_deletes_the_other() -> None:
    known = replace(DESIRED, known_id="m")
    assert plan(known, [_network(RIGHT), _network(RIGHT, id="m")]) == [DeleteNetwork("n")]


def _object(cidr: str, gateway: str) -> Network:
    metadata = ObjectMeta(name="a", namespace="default", uid="u-1")
    return Network(metadata=metadata, spec=NetworkSpec(cidr=cidr, gateway=gateway))


def test_identity_contains_the_uid() -> None:
    assert desired_of(_object("10.0.0.0/16", "10.0.0.1")).identity == "samplecrd.k8s.io/network/u-1"


@pytest.mark.parametrize(
    ("cidr", "gateway", "normal"),
    [
        ("10.1.2.3/16", "10.1.0.1", ("10.1.0.0/16", "10.1.0.1")),
        ("FD00:0::/64", "fd00:0:0::1", ("fd00::/64", "fd00::1")),
    ],
    ids=["host bits", "IPv6"],
)
def test_addresses_are_normalized_to_neutrons_form(cidr: str, gateway: str, normal: tuple[str, str]) -> None:
    desired = desired_of(_object(cidr, gateway))
    assert (desired.cidr, desired.gateway) == normal


@given(st.ip_addresses(), st.integers(0, 128), st.data())
def test_pools_exclude_the_gateway_and_the_network_address(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, prefix: int, data: st.DataObject
) -> None:
    network = ipaddress.ip_network((address, prefix % (address.max_prefixlen + 1)), strict=False)
    first, last = int(network.network_address), int(network.broadcast_address)
    gateway = type(address)(data.draw(st.integers(first, last)))
    found = pools(str(network), str(gateway))
    sizes = [int(ipaddress.ip_address(each["end"])) - int(ipaddress.ip_address(each["start"])) + 1 for each in found]
    assert all(size > 0 for size in sizes)
    reserved = {gateway}
    if network.num_addresses > 2:
        reserved |= {network.network_address}
        if network.version == 4:
            reserved |= {network.broadcast_address}
    assert sum(sizes) == network.num_addresses - len(reserved)
    for each in found:
        assert not int(ipaddress.ip_address(each["start"])) <= int(gateway) <= int(ipaddress.ip_address(each["end"]))
