"""Pod CIDRs of simulated nodes."""

import ipaddress
from collections.abc import Sequence
from typing import Any

import pytest

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES, PODS
from sampan.controllers import node_ipam
from sampan.core.pods.simulated import POD_CIDRS
from sampan.node.node_object import pod_addresses as addresses_module
from sampan.node.node_object.pod_addresses import AddressesExhausted, PodAddresses
from sampan.node.nodes import SimulatedNodes
from sampan.node.set_up import set_up
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.node.cluster import pod
from tests.node.test_pods import is_ready


def nodes(*names: str, range_wait_s: float | None = None) -> Any:
    """Return a function that sets up nodes which wait for their pod CIDRs."""

    def setting_up(context: ControllerContext) -> None:
        set_up(context, SimulatedNodes(names, range_wait_s=range_wait_s))

    return setting_up


async def ranges(c: Working, names: Sequence[str]) -> list[str]:
    """Wait until the nodes have pod CIDRs, and return them."""
    has_range = [await c.until(NODES, name, lambda node: node.get("spec", {}).get("podCIDR")) for name in names]
    return [node["spec"]["podCIDR"] for node in has_range]


async def test_simulated_nodes_choose_ranges_that_no_network_routes_and_real_ones_get_theirs() -> None:
    names = ["a", "b"]
    async with connected() as (client, _), working(client, node_ipam.set_up, nodes(*names, range_wait_s=0.05)) as c:
        await c.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "real"}})
        assert await ranges(c, ["real"]) == ["10.128.0.0/24"]
        found = dict(zip(names, await ranges(c, names), strict=True))
        assert len(set(found.values())) == 2
        for name, cidr in found.items():
            assert ipaddress.IPv4Network(cidr).subnet_of(POD_CIDRS)
            obj = pod(f"on-{name}")
            obj["spec"]["nodeName"] = name
            await c.create(PODS, obj)
            running = await c.until(PODS, f"on-{name}", is_ready)
            assert ipaddress.ip_address(running["status"]["podIP"]) in ipaddress.ip_network(cidr)


async def test_nodes_choose_free_cidrs_without_a_controller() -> None:
    async with connected() as (client, _):
        async with working(client, nodes("a", "b", range_wait_s=0.05)) as c:
            assert await ranges(c, ["a", "b"]) == ["250.0.0.0/24", "250.0.1.0/24"]
        async with working(client, nodes("c", range_wait_s=0.05)) as c:
            assert await ranges(c, ["c"]) == ["250.0.2.0/24"]


async def test_restarted_node_keeps_its_cidr() -> None:
    async with connected() as (client, _):
        async with working(client, nodes("a", "b", range_wait_s=0.05)) as c:
            await ranges(c, ["a", "b"])
        async with working(client, nodes("b", range_wait_s=0.0)) as c:
            obj = pod("web")
            obj["spec"]["nodeName"] = "b"
            await c.create(PODS, obj)
            running = await c.until(PODS, "web", is_ready)
            assert running["status"]["podIP"].startswith("250.0.1.")


async def test_no_addresses_without_a_cidr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses_module, "ASSIGNED_WITHIN_S", 0.0)
    given = PodAddresses()
    with pytest.raises(AddressesExhausted, match="no pod CIDR yet"):
        await given.assigned()
    given.assign("10.0.0.0/29")
    await given.assigned()
    assert given.take("a") == "10.0.0.2"
