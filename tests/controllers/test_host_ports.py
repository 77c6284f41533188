"""Services of type LoadBalancer, NodePorts, and Pods with the same ports of nodes."""

import asyncio
from typing import Any

import pytest

from sampan.component_base.resources import EVENTS, PODS
from sampan.component_base.views import POD_VIEW
from sampan.controllers.service_load_balancer.assignment import (
    AddressPort,
    Assigner,
    Balanced,
    NodeAddresses,
    ProtocolPort,
)
from tests.controllers.cluster import WAIT_S, Working, cluster
from tests.controllers.test_load_balancer import ONE, TWO, balancing, published, service, two_nodes

HTTP = ProtocolPort("TCP", 80)


async def pod(c: Working, name: str, node: str, port: int, **spec: Any) -> None:
    """Create a Pod on a node, with a port of it, and wait until the loops know it."""
    container = {"name": "c", "image": "i", "ports": [{"containerPort": 8080, "hostPort": port}]}
    await c.create(PODS, {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [container], **spec}})
    cached = c.manager.client.resource(POD_VIEW, namespace="")
    async with asyncio.timeout(WAIT_S):
        while True:
            if any(each.metadata.name == name for each in await cached.list()):
                return
            await asyncio.sleep(0.01)


async def test_service_gets_no_address_whose_port_a_pod_uses_until_the_pod_ends() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await pod(c, "first", "one", 80)
        await pod(c, "other-port", "two", 81)
        await service(c)
        await published(c, TWO)
        await c.patch_status(PODS, "first", {"phase": "Succeeded"})
        await published(c, ONE, TWO)


async def test_service_whose_port_pods_use_on_all_nodes_gets_an_event() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await pod(c, "a", "one", 80)
        await pod(c, "b", "two", 80)
        await service(c)
        [event] = await c.events("SyncLoadBalancerFailed")
        assert event["message"].endswith(f"port 80/TCP of {ONE} is in use: hostPort of Pod default/a")


async def test_pod_whose_port_a_service_has_gets_an_event() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await service(c)
        await published(c, ONE, TWO)
        await pod(c, "late", "one", 80)
        [event] = await c.events("HostPortConflict")
        assert event["message"] == "hostPort 80/TCP of node one is in use: Service default/web"
        assert event["involvedObject"]["name"] == "late"
        await published(c, ONE, TWO)


async def test_pod_whose_port_is_a_node_port_gets_an_event() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await pod(c, "web", "one", 30123)
        await service(c, "ported", type="NodePort", ports=[{"port": 80, "nodePort": 30123}])
        [event] = await c.events("HostPortConflict")
        assert event["message"].endswith("in use: NodePort of Service default/ported")


async def test_pod_without_a_conflict_gets_no_event() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await service(c)
        await published(c, ONE, TWO)
        await pod(c, "free", "one", 81)
        await pod(c, "late", "one", 80)
        await c.events("HostPortConflict")
        named = [each["involvedObject"]["name"] for each in await c.all(EVENTS) if each["reason"] == "HostPortConflict"]
        assert named == ["late"]


@pytest.mark.parametrize(("before", "addresses"), [((), ()), (("192.0.2.1",), ("192.0.2.1",))])
def test_service_keeps_an_address_that_it_has(before: tuple[str, ...], addresses: tuple[str, ...]) -> None:
    place = AddressPort("192.0.2.1", HTTP)
    assigner = Assigner([NodeAddresses("one", ("192.0.2.1",))], host_ports={place: "hostPort of Pod default/a"})
    [found] = assigner.assign([Balanced("default/web", (HTTP,), before=before)]).values()
    assert found.addresses == addresses
    assert assigner.disputed == ({place: "Service default/web"} if addresses else {})
