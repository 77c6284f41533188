"""Addresses of load balancers: the assignment as a model, and ranges of addresses."""

import ipaddress
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.component_base.load_balancer import AddressRange
from sampan.controllers.service_load_balancer.assignment import (
    AddressPort,
    Assigner,
    Assignment,
    Balanced,
    NodeAddresses,
    ProtocolPort,
)
from tests.properties import examples

NODES = [NodeAddresses("a", ("192.0.2.1", "2001:db8::1")), NodeAddresses("b", ("192.0.2.2",))]
POOL = (AddressRange.parse("198.51.100.0/30"), AddressRange.parse("2001:db8:1::1-2001:db8:1::2"))
HTTP, DNS = ProtocolPort("TCP", 80), ProtocolPort("UDP", 53)

ports = st.lists(
    st.sampled_from([HTTP, DNS, ProtocolPort("TCP", 443), ProtocolPort("UDP", 80)]), min_size=1, max_size=3, unique=True
)
services = st.lists(
    st.builds(
        Balanced,
        key=st.integers(0, 99).map(lambda number: f"default/s{number}"),
        ports=ports.map(tuple),
        versions=st.sampled_from([(4,), (6,), (4, 6), (6, 4)]),
        created=st.sampled_from(["2026-01-01", "2026-01-02"]),
        requested=st.sampled_from(["", "", "", "192.0.2.2", "198.51.100.1", "203.0.113.9"]),
        nodes=st.sampled_from([None, None, frozenset({"a"}), frozenset()]),
    ),
    max_size=12,
    unique_by=lambda service: service.key,
)
pools = st.sampled_from([(), POOL])
RESERVED = {
    AddressPort("192.0.2.1", ProtocolPort("TCP", 443)): "API server",
    AddressPort("198.51.100.0", HTTP): "a program",
}


def assigned(found: list[Balanced], pool: tuple[AddressRange, ...]) -> dict[str, Assignment]:
    """Return the assignments on two nodes."""
    return Assigner(NODES, pool, RESERVED).assign(found)


@given(services, pools)
@settings(max_examples=examples(200))
def test_no_port_of_an_address_has_two_services(found: list[Balanced], pool: tuple[AddressRange, ...]) -> None:
    result = assigned(found, pool)
    places = [
        AddressPort(address, port) for each in found for address in result[each.key].addresses for port in each.ports
    ]
    assert len(places) == len(set(places))
    assert not RESERVED.keys() & set(places)


@given(services, pools)
@settings(max_examples=examples(200))
def test_each_service_has_addresses_or_a_problem(found: list[Balanced], pool: tuple[AddressRange, ...]) -> None:
    possible = {address for node in NODES for address in node.addresses}
    for service in found:
        assignment = assigned(found, pool)[service.key]
        assert bool(assignment.addresses) != bool(assignment.problem)
        for text in assignment.addresses:
            address = ipaddress.ip_address(text)
            assert any(address in each for each in pool) if pool else text in possible
            assert service.requested in ("", text)
            assert service.requested or address.version in service.versions


@given(services, pools, st.data())
@settings(max_examples=examples(200))
def test_addresses_are_stable(found: list[Balanced], pool: tuple[AddressRange, ...], data: st.DataObject) -> None:
    before = {key: each.addresses for key, each in assigned(found, pool).items()}
    published = [replace(each, before=before[each.key]) for each in found]
    shuffled = data.draw(st.permutations(published))
    assert {key: each.addresses for key, each in assigned(shuffled, pool).items()} == before


@given(services, pools)
@settings(max_examples=examples(200))
def test_a_later_service_takes_no_address_of_an_earlier_one(
    found: list[Balanced], pool: tuple[AddressRange, ...]
) -> None:
    before = assigned(found, pool)
    published = [replace(each, before=before[each.key].addresses) for each in found]
    later = Balanced("default/later", (HTTP, DNS), (4, 6), "2025-01-01")
    after = assigned([later, *published], pool)
    unchanged = {key: each.addresses for key, each in before.items() if each.addresses}
    assert {key: after[key].addresses for key in unchanged} == unchanged


def test_the_oldest_service_gets_the_port_and_the_other_one_a_reason() -> None:
    old, new = Balanced("z/old", (HTTP,), created="2026-01-01"), Balanced("a/new", (HTTP, DNS), created="2026-01-02")
    result = assigned([new, old], ())
    assert result["z/old"].addresses == ("192.0.2.1", "192.0.2.2")
    assert result["a/new"] == Assignment((), "port 80/TCP of 192.0.2.1 is in use: Service z/old")


def test_a_service_gets_the_addresses_where_its_ports_are_free() -> None:
    result = assigned([Balanced("default/web", (ProtocolPort("TCP", 443),))], ())
    assert result["default/web"] == Assignment(("192.0.2.2",))


def test_a_node_port_is_reserved_except_for_its_own_service() -> None:
    ports = {ProtocolPort("TCP", 30080): "NodePort of Service default/web"}
    web, other = (Balanced(key, (ProtocolPort("TCP", 30080),)) for key in ("default/web", "default/other"))
    assert Assigner(NODES, reserved_ports=ports).assign([web])["default/web"].addresses
    text = "port 30080/TCP of 192.0.2.1 is in use: NodePort of Service default/web"
    assert Assigner(NODES, reserved_ports=ports).assign([other])["default/other"].problem == text


def test_two_services_can_request_one_address_of_the_pool_for_different_ports() -> None:
    found = [Balanced(f"default/{port.number}", (port,), requested="198.51.100.2") for port in (HTTP, DNS)]
    assert {each.addresses for each in assigned(found, POOL).values()} == {("198.51.100.2",)}


def test_an_exhausted_pool_is_a_reason() -> None:
    found = [Balanced(f"default/{number}", (HTTP,), created=str(number)) for number in range(4)]
    result = assigned(found, POOL)
    assert [each.addresses for each in result.values()][:3] == [(f"198.51.100.{last}",) for last in (1, 2, 3)]
    assert result["default/3"].problem == "the pool has no free address of its IP families"


@pytest.mark.parametrize(
    ("text", "shown", "count"),
    [
        ("198.51.100.0/30", "198.51.100.0-198.51.100.3", 4),
        ("198.51.100.9 - 198.51.100.10", "198.51.100.9-198.51.100.10", 2),
        ("2001:db8::5", "2001:db8::5", 1),
    ],
    ids=["network", "range", "address"],
)
def test_ranges_of_addresses(text: str, shown: str, count: int) -> None:
    found = AddressRange.parse(text)
    assert (str(found), len(list(found))) == (shown, count)
    assert AddressRange.parse(shown) == found
    assert all(each in found for each in found)


@pytest.mark.parametrize("text", ["", "web", "192.0.2.9-192.0.2.1", "192.0.2.1-2001:db8::1", "192.0.2.1/24"])
def test_other_texts_are_no_ranges(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        AddressRange.parse(text)


def test_the_choice_from_a_pool_passes_each_address_once() -> None:
    tried: list[ipaddress.IPv4Address | ipaddress.IPv6Address] = []

    class Counted(AddressRange):
        def __iter__(self) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
            for each in super().__iter__():
                tried.append(each)
                yield each

    pool = Counted(ipaddress.ip_address("198.51.100.0"), ipaddress.ip_address("198.51.103.255"))
    count = 500
    found = Assigner((), (pool,), RESERVED).assign([Balanced(f"default/s{each}", (HTTP,)) for each in range(count)])
    assert len({each.addresses for each in found.values()}) == count
    assert len(tried) == count + 1  # a program uses the first one


def test_an_address_that_one_service_cannot_take_is_for_a_later_one() -> None:
    found = Assigner((), POOL, RESERVED).assign([Balanced("default/a", (HTTP,)), Balanced("default/b", (DNS,))])
    assert [each.addresses for each in found.values()] == [("198.51.100.1",), ("198.51.100.0",)]
