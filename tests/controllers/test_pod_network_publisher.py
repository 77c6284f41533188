"""Tests of the ConfigMap with the networks of nodes."""

from typing import Any

from sampan.client import MergePatch, wait_for
from sampan.component_base.pod_networks import CONFIG_MAP, NAMESPACE, PodNetworkOf, from_data
from sampan.component_base.resources import CONFIG_MAPS, NODES
from sampan.controllers import pod_network_publisher
from tests.controllers.cluster import WAIT_S, Working, cluster


def node(name: str, cidr: str, runtime: str = "cri") -> Any:
    return {
        "metadata": {"name": name, "labels": {"sampan.dev/runtime": runtime}},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr]},
        "status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]},
    }


async def published(c: Working, *names: str) -> dict[str, PodNetworkOf]:
    """Wait until the networks of these nodes are published, and return them."""
    config_maps = c.client.resource(CONFIG_MAPS, namespace=NAMESPACE)

    def holds(obj: Any | None) -> bool:
        return obj is not None and sorted(obj.get("data") or ()) == sorted(names)

    found = await wait_for(config_maps, CONFIG_MAP, holds, timeout_s=WAIT_S)
    assert found is not None
    return from_data(found.get("data") or {})


async def test_networks_of_nodes_with_containers_are_published() -> None:
    async with cluster(pod_network_publisher.set_up) as c:
        await c.create(NODES, node("b", "10.1.2.0/24", "simulated"))
        await c.create(NODES, node("a", "10.1.1.0/24"))
        assert await published(c, "a") == {"a": PodNetworkOf(("10.1.1.0/24",), ("192.0.2.1",))}


async def test_the_published_networks_follow_the_nodes() -> None:
    async with cluster(pod_network_publisher.set_up) as c:
        for name in ("a", "b"):
            await c.create(NODES, node(name, f"10.1.{ord(name)}.0/24"))
        await published(c, "a", "b")
        await c.delete(NODES, "a")
        await published(c, "b")


async def test_a_changed_or_deleted_config_map_is_restored() -> None:
    async with cluster(pod_network_publisher.set_up) as c:
        await c.create(NODES, node("a", "10.1.1.0/24"))
        before = await published(c, "a")
        config_maps = c.client.resource(CONFIG_MAPS, namespace=NAMESPACE)
        await config_maps.patch(CONFIG_MAP, MergePatch({"data": {"a": "forged", "x": "{}"}}))
        assert await published(c, "a") == before
        await config_maps.delete(CONFIG_MAP)
        assert await published(c, "a") == before


def test_malformed_entries_are_left_out() -> None:
    assert from_data({"a": "{", "b": '{"cidrs": 1}', "c": '{"cidrs": ["10.1.0.0/24"]}'}) == {
        "c": PodNetworkOf(("10.1.0.0/24",))
    }
