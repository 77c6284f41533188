"""Services reached through the rules of a real proxy, from outside, from the node and from Pods."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client import Client
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import ENDPOINT_SLICES, NODES, SERVICES
from sampan.registry.allocation.allocators import Allocators
from sampan.resource import Object
from sampan.service_proxy.kernel import Kernel
from sampan.service_proxy.rules.options import RuleOptions
from sampan.service_proxy.set_up import set_up
from sampan.testing.servers.in_process import InProcessTransport
from tests.client.connected import AS_MADE
from tests.controllers.cluster import Working, working
from tests.e2e.proxy.lab import CLUSTER_IPS, PORT, Endpoint, Lab, Namespace, lab, skip_unless_possible
from tests.server.cluster import served
from tests.server.frame import MASTER

NODE_IP = "172.30.0.11"
OPTIONS = RuleOptions(cluster_cidrs=("10.244.0.0/16", "fd00:1::/64", "fd00:2::/64"))


@pytest.fixture(scope="module")
def net() -> Iterator[Lab]:
    skip_unless_possible()
    with lab() as made:
        yield made


class Proxied:
    """A cluster whose Services a proxy makes reachable in the lab."""

    def __init__(self, working: Working, net: Lab) -> None:
        self.working, self.net = working, net

    async def service(self, *endpoints: Endpoint, protocol: str = "TCP", **spec: Any) -> Object:
        """Create the Service `web` with these endpoints, and return it."""
        ports = [{"port": 80, "protocol": protocol, "targetPort": PORT}]
        found = await self.working.create(SERVICES, {"metadata": {"name": "web"}, "spec": {"ports": ports, **spec}})
        await self.working.create(ENDPOINT_SLICES, {**_slice(protocol), "endpoints": self.items(endpoints)})
        return found

    async def endpoints(self, *endpoints: Endpoint) -> None:
        """Replace the endpoints of the Service."""
        await self.working.patch(ENDPOINT_SLICES, "web", {"endpoints": self.items(endpoints)})

    def items(self, endpoints: tuple[Endpoint, ...]) -> list[Object]:
        """Return the endpoints of a slice; `c` is on another node."""
        nodes = {self.net.a.name: "node-a", self.net.b.name: "node-a", self.net.c.name: "node-b"}
        return [
            {"addresses": [each.address], "nodeName": nodes[each.name], "conditions": {"ready": True}}
            for each in endpoints
        ]

    async def until(self, origin: Namespace, address: str, port: int, expected: str | set[str]) -> str:
        """Connect until the answer comes from an expected endpoint, and return it."""
        names = {expected} if isinstance(expected, str) else expected
        return await self.until_response(lambda: self.net.tcp(origin, address, port), lambda found: found in names)

    async def until_response(self, fetch: Callable[[], str], holds: Callable[[str], bool]) -> str:
        """Repeat until the first word of the answer is as expected."""
        response = ""
        async with asyncio.timeout(10):
            while not holds(response.partition(" ")[0]):
                response = await asyncio.to_thread(fetch)
        return response


def _slice(protocol: str) -> Object:
    return {
        "metadata": {"name": "web", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "ports": [{"port": PORT, "protocol": protocol, "name": ""}],
    }


@asynccontextmanager
async def proxied(net: Lab) -> AsyncIterator[Proxied]:
    """Run a server, and a proxy in the node's namespace."""

    def add_proxy(context: ControllerContext) -> None:
        set_up(context.manager, "node-a", options=OPTIONS, kernel=Kernel(enter=net.node.enter))

    async with (
        served(admission=AS_MADE, allocators=Allocators(CLUSTER_IPS)) as api,
        Client(InProcessTransport(api.server.handler, headers=MASTER), field_manager="tests") as client,
        working(client, add_proxy) as found,
    ):
        await found.create(NODES, {"metadata": {"name": "node-a"}})
        yield Proxied(found, net)


async def test_a_cluster_ip_and_a_node_port_reach_every_endpoint(net: Lab) -> None:
    async with proxied(net) as found:
        service = await found.service(net.a, net.b, net.c, type="NodePort")
        address, node_port = service["spec"]["clusterIP"], service["spec"]["ports"][0]["nodePort"]
        await found.until(net.client, address, 80, {"a", "b", "c"})
        for origin in (net.client, net.node, net.a.namespace):
            assert await asyncio.to_thread(net.names, origin, address, 80, 30) == {"a", "b", "c"}
            assert await asyncio.to_thread(net.names, origin, NODE_IP, node_port, 30) == {"a", "b", "c"}


async def test_sources_are_kept_inside_and_replaced_outside_and_in_hairpins(net: Lab) -> None:
    async with proxied(net) as found:
        address = (await found.service(net.a))["spec"]["clusterIP"]
        assert await found.until(net.b.namespace, address, 80, "a") == f"a {net.b.address}"
        assert net.tcp(net.client, address, 80) == "a 10.244.1.1"
        assert net.tcp(net.a.namespace, address, 80) == "a 10.244.1.1"


async def test_a_service_without_endpoints_refuses_connections_at_once(net: Lab) -> None:
    async with proxied(net) as found:
        service = await found.service(net.a, type="NodePort")
        address, node_port = service["spec"]["clusterIP"], service["spec"]["ports"][0]["nodePort"]
        await found.until(net.client, address, 80, "a")
        await found.endpoints()
        await found.until(net.client, address, 80, "refused")
        assert net.tcp(net.node, address, 80) == net.tcp(net.client, NODE_IP, node_port) == "refused"
        assert net.tcp(net.client, address, 81) == "refused"


async def test_a_client_with_affinity_keeps_its_endpoint_until_that_ends(net: Lab) -> None:
    async with proxied(net) as found:
        service = await found.service(net.a, net.b, net.c, type="NodePort", sessionAffinity="ClientIP")
        address, node_port = service["spec"]["clusterIP"], service["spec"]["ports"][0]["nodePort"]
        first = await found.until(net.a.namespace, address, 80, {"a", "b", "c"})
        retained = {first.partition(" ")[0]}
        assert net.names(net.a.namespace, address, 80) == net.names(net.a.namespace, NODE_IP, node_port) == retained
        left = [each for each in (net.a, net.b, net.c) if each.name not in retained]
        await found.endpoints(*left)
        await found.until(net.a.namespace, address, 80, {each.name for each in left})
        await found.working.patch(SERVICES, "web", {"spec": {"sessionAffinity": "None"}})
        async with asyncio.timeout(10):
            while await asyncio.to_thread(net.names, net.a.namespace, address, 80, 30) != {each.name for each in left}:
                pass


async def test_no_connection_fails_while_endpoints_change(net: Lab) -> None:
    async with proxied(net) as found:
        address = (await found.service(net.a))["spec"]["clusterIP"]
        await found.until(net.client, address, 80, "a")
        observed: set[str] = set()
        ended = asyncio.Event()

        async def connect() -> None:
            while not ended.is_set():
                observed.update(await asyncio.to_thread(net.names, net.client, address, 80, 10))

        connecting = asyncio.create_task(connect())
        for _ in range(10):
            await found.endpoints(net.b)
            await found.until(net.b.namespace, address, 80, "b")
            await found.endpoints(net.a)
            await found.until(net.b.namespace, address, 80, "a")
        ended.set()
        await connecting
        assert observed == {"a", "b"}


async def test_the_external_policy_local_keeps_sources_and_drops_without_a_local_endpoint(net: Lab) -> None:
    async with proxied(net) as found:
        service = await found.service(net.a, net.c, type="NodePort", externalTrafficPolicy="Local")
        node_port = service["spec"]["ports"][0]["nodePort"]
        assert await found.until(net.client, NODE_IP, node_port, "a") == "a 172.30.0.1"
        assert net.names(net.client, NODE_IP, node_port) == {"a"}
        assert net.names(net.b.namespace, NODE_IP, node_port, 30) == {"a", "c"}
        await found.endpoints(net.c)
        await found.until(net.client, NODE_IP, node_port, "dropped")
        assert net.names(net.node, NODE_IP, node_port, 1) == {"c"}


async def test_the_internal_policy_local_uses_endpoints_of_this_node(net: Lab) -> None:
    async with proxied(net) as found:
        address = (await found.service(net.a, net.c, internalTrafficPolicy="Local"))["spec"]["clusterIP"]
        await found.until(net.b.namespace, address, 80, "a")
        assert net.names(net.b.namespace, address, 80) == {"a"}
        await found.endpoints(net.c)
        await found.until(net.b.namespace, address, 80, "dropped")


async def test_external_addresses_admit_only_the_source_ranges(net: Lab) -> None:
    async with proxied(net) as found:
        ranges = ["10.244.0.0/16", "10.244.1.0/24"]
        await found.service(net.a, type="LoadBalancer", loadBalancerSourceRanges=ranges, externalIPs=["172.30.0.40"])
        ingress = {"loadBalancer": {"ingress": [{"ip": "10.96.255.1"}]}}
        await found.working.patch_status(SERVICES, "web", ingress)
        await found.until(net.b.namespace, "10.96.255.1", 80, "a")
        assert net.tcp(net.client, "10.96.255.1", 80) == "dropped"
        net.client.ip("route", "replace", "172.30.0.40", "via", NODE_IP)
        assert net.tcp(net.client, "172.30.0.40", 80) == "a 10.244.1.1"


async def test_a_udp_client_with_one_port_follows_the_endpoints(net: Lab) -> None:
    async with proxied(net) as found:
        address = (await found.service(net.a, protocol="UDP"))["spec"]["clusterIP"]
        client = net.client.call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        with client:
            client.settimeout(0.05)

            def fetch() -> str:
                try:
                    client.sendto(b"?", (address, 80))
                    return client.recv(100).decode()
                except (TimeoutError, ConnectionRefusedError):
                    return ""

            await found.until_response(fetch, "a".__eq__)
            await found.endpoints(net.b)
            await found.until_response(fetch, "b".__eq__)


async def test_a_dual_stack_service_has_rules_in_both_families(net: Lab) -> None:
    async with proxied(net) as found:
        service = await found.service(net.a, net.c, ipFamilyPolicy="RequireDualStack")
        items = [{"addresses": [net.a.address6], "nodeName": "node-a"}, {"addresses": [net.c.address6]}]
        piece = {**_slice("TCP"), "addressType": "IPv6", "endpoints": items}
        piece["metadata"] = {**piece["metadata"], "name": "web6"}
        await found.working.create(ENDPOINT_SLICES, piece)
        for address in service["spec"]["clusterIPs"]:
            await found.until(net.client, address, 80, {"a", "c"})
            assert net.names(net.client, address, 80, 20) == {"a", "c"}
            assert net.tcp(net.client, address, 81) == "refused"


@pytest.mark.parametrize(
    "change",
    [
        "flush ruleset",
        "delete table ip sampan-proxy",
        "flush chain ip sampan-proxy nat-prerouting",
        "flush chain ip sampan-proxy cluster-default/web/tcp/80",
        "flush map ip sampan-proxy service-ips",
    ],
)
async def test_rules_that_another_program_removes_come_back(net: Lab, change: str) -> None:
    async with proxied(net) as found:
        address = (await found.service(net.a))["spec"]["clusterIP"]
        await found.until(net.client, address, 80, "a")
        kernel = Kernel(enter=net.node.enter)
        await kernel.write(f"{change}\n")
        kernel.close()
        await found.until(net.client, address, 80, "a")


async def test_own_changes_are_no_changes_of_another_program(net: Lab, caplog: pytest.LogCaptureFixture) -> None:
    async with proxied(net) as found:
        address = (await found.service(net.a))["spec"]["clusterIP"]
        await found.until(net.client, address, 80, "a")
        await asyncio.sleep(0.5)
    assert "another program" not in caplog.text
