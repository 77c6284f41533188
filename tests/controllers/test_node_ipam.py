"""Tests of the allocation of address ranges to Nodes."""

import asyncio
from dataclasses import replace

import pytest

from sampan.component_base.context import ControllerContext
from sampan.component_base.pod_ranges import PodRange
from sampan.component_base.resources import NODES
from sampan.controllers import node_ipam
from sampan.controllers.node_ipam.cidr_set import CidrSet
from sampan.controllers.node_ipam.controller import Ranges
from sampan.resource import Object
from tests.client.connected import connected
from tests.controllers.cluster import Working, cluster, working


async def cidr_of(c: Working, name: str) -> str:
    """Wait for the range of a Node, and return it."""
    node = await c.until(NODES, name, lambda node: node.get("spec", {}).get("podCIDR"))
    assert node["spec"]["podCIDRs"] == [node["spec"]["podCIDR"]]
    return str(node["spec"]["podCIDR"])


def node(name: str, **spec: object) -> Object:
    return {"metadata": {"name": name}, "spec": spec}


async def test_each_node_gets_its_own_range() -> None:
    async with cluster(node_ipam.set_up) as c:
        await asyncio.gather(*(c.create(NODES, node(f"n{number}")) for number in range(12)))
        cidrs = {await cidr_of(c, f"n{number}") for number in range(12)}
        assert cidrs == {f"10.128.{number}.0/24" for number in range(12)}


async def test_a_range_in_use_is_not_allocated_again() -> None:
    async with connected() as (client, _):
        async with working(client) as c:
            await c.create(NODES, node("old", podCIDR="10.128.0.0/23", podCIDRs=["10.128.0.0/23"]))
            await c.create(NODES, node("new"))
        async with working(client, node_ipam.set_up) as c:
            assert await cidr_of(c, "new") == "10.128.2.0/24"
            assert await cidr_of(c, "old") == "10.128.0.0/23"


async def test_allocation_continues_after_a_restart() -> None:
    async with connected() as (client, _):
        async with working(client, node_ipam.set_up) as c:
            await c.create(NODES, node("a"))
            assert await cidr_of(c, "a") == "10.128.0.0/24"
        async with working(client, node_ipam.set_up) as c:
            await c.create(NODES, node("b"))
            assert await cidr_of(c, "b") == "10.128.1.0/24"
            assert await cidr_of(c, "a") == "10.128.0.0/24"


DUAL = (PodRange("10.0.0.0/23", 24), PodRange("fd00:1::/48", 64))


def dual_stack(context: ControllerContext) -> None:
    node_ipam.set_up(replace(context, pod_ranges=DUAL))


async def test_a_node_gets_a_range_of_each_family() -> None:
    async with cluster(dual_stack) as c:
        await c.create(NODES, node("a"))
        found = await c.until(NODES, "a", lambda node: node.get("spec", {}).get("podCIDR"))
        assert found["spec"]["podCIDRs"] == ["10.0.0.0/24", "fd00:1::/64"]


def test_an_exhausted_family_leaves_the_other_one_untouched() -> None:
    four, six = CidrSet("10.0.0.0/24", 24), CidrSet("fd00::/63", 64)
    ranges = Ranges([four, six])
    assert ranges.take("a") == ["10.0.0.0/24", "fd00::/64"]
    assert ranges.take("b") == []
    assert six.allocate() == "fd00:0:0:1::/64"


def parts(cidr: str, mask_size: int, count: int) -> list[str | None]:
    """Allocate the first parts of a range."""
    whole = CidrSet(cidr, mask_size)
    return [whole.allocate() for _ in range(count)]


def test_parts_are_allocated_until_none_is_left() -> None:
    assert parts("10.0.0.0/23", 24, 3) == ["10.0.0.0/24", "10.0.1.0/24", None]
    assert parts("fd00::/63", 64, 3) == ["fd00::/64", "fd00:0:0:1::/64", None]


def test_a_released_part_is_reused_last() -> None:
    whole = CidrSet("10.0.0.0/22", 24)
    assert whole.allocate() == "10.0.0.0/24"
    whole.release("10.0.0.0/24")
    assert [whole.allocate() for _ in range(4)] == ["10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/24", "10.0.0.0/24"]


def test_a_shared_part_is_free_after_both_releases() -> None:
    whole = CidrSet("10.0.0.0/24", 24)
    whole.occupy("10.0.0.0/24")
    whole.occupy("10.0.0.128/25")
    whole.release("10.0.0.0/24")
    assert whole.allocate() is None
    whole.release("10.0.0.128/25")
    assert whole.allocate() == "10.0.0.0/24"


def test_ranges_outside_the_set_are_ignored() -> None:
    whole = CidrSet("10.0.0.0/24", 24)
    for elsewhere in ("192.168.0.0/16", "9.255.255.0/24", "10.0.1.0/24", "fd00::/64"):
        whole.occupy(elsewhere)
    assert whole.allocate() == "10.0.0.0/24"


@pytest.mark.parametrize("mask_size", [8, 33])
def test_parts_must_fit(mask_size: int) -> None:
    with pytest.raises(ValueError, match="has no parts of the size"):
        CidrSet("10.0.0.0/16", mask_size)
