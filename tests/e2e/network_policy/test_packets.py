"""Packets between Pods of one node, of two nodes and a machine outside, through the rules of NetworkPolicies.

In the lab, Pods `a` and `b` are on the bridge of the node, `c` is on another node. The Service proxy runs as well.
"""

import asyncio
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client import Client
from sampan.component_base.context import ControllerContext
from sampan.component_base.nftables.rule_thread import RuleThread
from sampan.component_base.resources import ENDPOINT_SLICES, NETWORK_POLICIES, NODES, PODS, SERVICES
from sampan.node.network_policy.enforcer import PolicyEnforcer
from sampan.node.network_policy.set_up import set_up_policies
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

OPTIONS = RuleOptions(cluster_cidrs=("10.244.0.0/16", "fd00:1::/64", "fd00:2::/64"))
WAIT_S = 60
TEXT: Any = {"capture_output": True, "text": True, "check": True}
NOT_A: Object = {"key": "app", "operator": "NotIn", "values": ["a"]}
DENY_ALL: Object = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.fixture(scope="module")
def net() -> Iterator[Lab]:
    skip_unless_possible()
    with lab() as made:
        for range_, router in (("10.244.0.0/16", "172.30.0.11"), ("fd00:1::/64", "fd00:30::11")):
            made.client.ip("route", "add", range_, "via", router)
        yield made


class Policed:
    """A cluster whose policies an enforcer applies in the lab."""

    def __init__(self, working: Working, net: Lab, enforcer: PolicyEnforcer) -> None:
        self.working, self.net, self.enforcer = working, net, enforcer
        self._policies: set[str] = set()

    async def policy(self, name: str, spec: Object) -> None:
        """Create or replace a policy."""
        if name in self._policies:
            await self.working.delete(NETWORK_POLICIES, name)
        self._policies.add(name)
        await self.working.create(NETWORK_POLICIES, {"metadata": {"name": name}, "spec": spec})

    async def passes(self, origin: Namespace, address: str, port: int = PORT) -> None:
        """Wait until a connection succeeds."""
        await until(lambda: asyncio.to_thread(self.net.tcp, origin, address, port), lambda found: " " in found)

    async def drops(self, origin: Namespace, address: str, port: int = PORT) -> None:
        """Wait until a connection gets no answer."""
        await until(lambda: asyncio.to_thread(self.net.tcp, origin, address, port), lambda found: found == "dropped")


async def until(act: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool]) -> Any:
    """Repeat until the result is as expected."""
    async with asyncio.timeout(WAIT_S):
        while not holds(found := await act()):
            pass  # Each attempt takes its time in another thread.
    return found


@asynccontextmanager
async def policed(net: Lab) -> AsyncIterator[Policed]:
    """Run a server, and enforcer and proxy in the node's namespace, with the Pods of the lab."""
    made: list[PolicyEnforcer] = []

    def add(context: ControllerContext) -> None:
        kernel = RuleThread("policies", enter=net.node.enter)
        made.append(set_up_policies(context, "node-a", shared=False, kernel=kernel))
        set_up(context.manager, "node-a", options=OPTIONS, kernel=Kernel(enter=net.node.enter))

    async with (
        served(admission=AS_MADE, allocators=Allocators(CLUSTER_IPS)) as api,
        Client(InProcessTransport(api.server.handler, headers=MASTER), field_manager="tests") as client,
        working(client, add) as found,
    ):
        await found.create(NODES, {"metadata": {"name": "node-a"}})
        for endpoint, node in ((net.a, "node-a"), (net.b, "node-a"), (net.c, "node-b")):
            await _pod(found, endpoint, node)
        yield Policed(found, net, made[0])
    net.node.call(lambda: subprocess.run(["nft", "flush", "ruleset"], check=True))


async def _pod(found: Working, endpoint: Endpoint, node: str) -> None:
    ports = [{"name": "web", "containerPort": PORT}]
    spec = {"nodeName": node, "containers": [{"name": "main", "image": "none", "ports": ports}]}
    metadata = {"name": endpoint.name, "namespace": "default", "labels": {"app": endpoint.name}}
    await found.create(PODS, {"metadata": metadata, "spec": spec})
    addresses = [{"ip": endpoint.address}, {"ip": endpoint.address6}]
    status = {"phase": "Running", "podIP": endpoint.address, "podIPs": addresses}
    await found.patch_status(PODS, endpoint.name, status)


def ingress(*rules: Object, pods: Object | None = None) -> Object:
    """Return a policy for ingress."""
    return {"podSelector": pods or {}, "policyTypes": ["Ingress"], "ingress": list(rules)}


def egress(*rules: Object, pods: Object | None = None) -> Object:
    """Return a policy for egress."""
    return {"podSelector": pods or {}, "policyTypes": ["Egress"], "egress": list(rules)}


def app(name: str) -> Object:
    """Return a selector of the Pods of an app."""
    return {"matchLabels": {"app": name}}


@pytest.mark.parametrize("family", ["address", "address6"])
async def test_pods_are_isolated_on_one_node_between_nodes_and_from_outside(net: Lab, family: str) -> None:
    b = getattr(net.b, family)
    async with policed(net) as found:
        for origin in (net.a.namespace, net.c.namespace, net.client):
            await found.passes(origin, b)
        await found.policy("deny", ingress())
        for origin in (net.a.namespace, net.c.namespace, net.client):
            await found.drops(origin, b)
        await found.passes(net.node, b)
        # The neighbour tables are empty again: the bridge must still carry what finds neighbours.
        for space in (net.a.namespace, net.b.namespace):
            space.ip("neighbour", "flush", "all")
        await found.policy("allow", ingress({"from": [{"podSelector": app("a")}]}, pods=app("b")))
        await found.passes(net.a.namespace, b)
        await found.drops(net.c.namespace, b)


async def test_egress_is_denied_but_replies_and_the_own_node_are_reached(net: Lab) -> None:
    async with policed(net) as found:
        await found.policy("deny", egress(pods=app("a")))
        for address in (net.b.address, net.c.address, net.b.address6, net.c.address6):
            await found.drops(net.a.namespace, address)
        await found.passes(net.b.namespace, net.a.address)
        await found.passes(net.client, net.a.address)
        server = net.node.call(lambda: socket.create_server(("10.244.1.1", 7777)))
        with server:
            net.a.namespace.call(lambda: socket.create_connection(("10.244.1.1", 7777), WAIT_S)).close()


async def test_policies_see_the_pods_behind_a_service(net: Lab) -> None:
    async with policed(net) as found:
        ports = [{"port": 80, "targetPort": PORT}]
        service = await found.working.create(SERVICES, {"metadata": {"name": "web"}, "spec": {"ports": ports}})
        address = service["spec"]["clusterIP"]
        await found.working.create(ENDPOINT_SLICES, _slice(net.b))
        await found.passes(net.a.namespace, address, 80)
        await found.policy("deny", DENY_ALL)
        await found.drops(net.a.namespace, address, 80)
        to_b = {"to": [{"podSelector": app("b")}]}
        await found.policy("ingress", ingress({"from": [{"podSelector": app("a")}]}, pods=app("b")))
        await found.policy("egress", egress({**to_b, "ports": [{"port": 80}]}, pods=app("a")))
        await found.enforcer.settled()
        await found.drops(net.a.namespace, address, 80)
        await found.policy("egress", egress({**to_b, "ports": [{"port": PORT}]}, pods=app("a")))
        await found.passes(net.a.namespace, address, 80)
        await found.passes(net.b.namespace, address, 80)  # b itself is the endpoint.


def _slice(endpoint: Endpoint) -> Object:
    return {
        "metadata": {"name": "web", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "ports": [{"port": PORT, "protocol": "TCP", "name": ""}],
        "endpoints": [{"addresses": [endpoint.address], "nodeName": "node-a", "conditions": {"ready": True}}],
    }


@pytest.mark.parametrize(
    ("rule", "passing", "dropped"),
    [
        ({"from": [{"ipBlock": {"cidr": "10.244.0.0/16", "except": ["10.244.2.0/24"]}}]}, "a", "c"),
        ({"from": [{"ipBlock": {"cidr": "172.30.0.0/24"}}]}, "client", "a"),
        ({"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}]}, "a", "client"),
        (
            {"from": [{"podSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}}]},
            "c",
            "a",
        ),
        ({"ports": [{"port": "web"}], "from": [{"podSelector": app("a")}]}, "a", "c"),
        ({"ports": [{"port": PORT - 10, "endPort": PORT}], "from": [{"podSelector": app("c")}]}, "c", "a"),
    ],
    ids=["except", "block", "namespace", "expression", "named port", "range"],
)
async def test_a_rule_admits_only_its_peers(net: Lab, rule: Object, passing: str, dropped: str) -> None:
    places = {"a": net.a.namespace, "c": net.c.namespace, "client": net.client}
    async with policed(net) as found:
        await found.policy("some", ingress(rule, pods=app("b")))
        await found.drops(places[dropped], net.b.address)
        await found.passes(places[passing], net.b.address)


@pytest.mark.parametrize("rule", [{"ports": [{"protocol": "UDP"}]}, {"ports": [{"port": PORT + 1}]}])
async def test_another_port_or_protocol_admits_nothing(net: Lab, rule: Object) -> None:
    async with policed(net) as found:
        await found.policy("some", ingress(rule, pods=app("b")))
        await found.drops(net.a.namespace, net.b.address)


async def test_udp_is_admitted_by_its_own_rules(net: Lab) -> None:
    def query() -> str:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.settimeout(0.3)
            udp.sendto(b"?", (net.b.address, PORT))
            try:
                return udp.recv(100).decode()
            except TimeoutError:
                return ""

    def response() -> Awaitable[str]:
        return asyncio.to_thread(net.a.namespace.call, query)

    async with policed(net) as found:
        await found.policy("some", ingress({"ports": [{"port": PORT}]}, pods=app("b")))
        await found.passes(net.a.namespace, net.b.address)
        await until(response, lambda text: text == "")
        await found.policy("some", ingress({"ports": [{"port": PORT, "protocol": "UDP"}]}, pods=app("b")))
        await until(response, lambda text: text.startswith("b "))
        await found.drops(net.a.namespace, net.b.address)


async def test_a_policy_also_ends_connections_that_are_open(net: Lab) -> None:
    async with policed(net) as found:
        await found.enforcer.settled()
        server = net.b.namespace.call(lambda: socket.create_server((net.b.address, 7000)))
        client = net.a.namespace.call(lambda: socket.create_connection((net.b.address, 7000), WAIT_S))
        with server, client:
            connection, _ = server.accept()
            with connection:
                client.sendall(b"1")
                assert connection.recv(1) == b"1"
                await found.policy("deny", ingress(pods=app("b")))
                await found.drops(net.a.namespace, net.b.address)
                client.sendall(b"2")
                connection.settimeout(1)
                with pytest.raises(TimeoutError):
                    connection.recv(1)


@pytest.mark.parametrize(
    "command",
    [
        "flush ruleset",
        "delete table inet sampan-netpol",
        "flush map inet sampan-netpol ingress-ip",
        "flush chain inet sampan-netpol ingress-base",
    ],
)
async def test_rules_that_something_has_undone_come_back(net: Lab, command: str) -> None:
    async with policed(net) as found:
        await found.policy("deny", ingress(pods=app("b")))
        await found.drops(net.a.namespace, net.b.address)
        before = net.node.call(_rules)
        net.node.call(lambda: subprocess.run(["nft", *command.split()], check=True))
        await until(lambda: asyncio.to_thread(net.node.call, _rules), lambda rules: rules == before)
        await found.drops(net.a.namespace, net.b.address)


def _rules() -> list[str]:
    command = ["nft", "-s", "list", "table", "inet", "sampan-netpol"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return sorted(output.replace(",", " ").split())


async def test_an_address_that_belongs_to_no_pod_reaches_nothing(net: Lab) -> None:
    async with policed(net) as found:
        found.enforcer.set_bridge("cni0")
        await found.enforcer.settled()
        for address in (net.b.address, net.c.address, net.b.address6):
            await found.passes(net.a.namespace, address)
        net.a.namespace.ip("address", "add", "10.244.1.200/32", "dev", "eth0")
        try:
            origin = ("10.244.1.200", 0)
            for address in (net.b.address, net.c.address):
                with pytest.raises(TimeoutError):
                    net.a.namespace.call(lambda: socket.create_connection((address, PORT), 0.5, origin))  # noqa: B023
        finally:
            net.a.namespace.ip("address", "delete", "10.244.1.200/32", "dev", "eth0")


async def test_pods_do_not_get_around_policies_with_link_local_and_shared_addresses(net: Lab) -> None:
    """The bridge carries such packets between Pods of one node, and no policy can name their addresses."""

    def link_local() -> str:
        shown = subprocess.run(["ip", "-o", "-6", "address", "show", "dev", "eth0", "scope", "link"], **TEXT)
        return str(shown.stdout.split()[3].partition("/")[0])

    def listening() -> socket.socket:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("", 7001))
        udp.settimeout(0.5)
        return udp

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            udp.sendto(b"x", ("10.244.1.255", 7001))

    address = f"{net.b.namespace.call(link_local)}%eth0"
    async with policed(net) as found:
        await found.passes(net.a.namespace, address)
        with net.b.namespace.call(listening) as udp:
            net.a.namespace.call(send)
            assert udp.recv(1) == b"x"
            found.enforcer.set_bridge("cni0")
            await found.enforcer.settled()
            await found.drops(net.a.namespace, address)
            net.a.namespace.call(send)
            with pytest.raises(TimeoutError):
                udp.recv(1)


async def test_rules_stay_while_no_agent_runs_and_until_the_next_one_has_read_all_policies(net: Lab) -> None:
    async with policed(net) as found:
        await found.policy("deny", ingress(pods=app("b")))
        await found.drops(net.a.namespace, net.b.address)
        rules = net.node.call(_rules)
        found.working.manager.stop()
        blocked = asyncio.Event()

        async def synced() -> None:
            await blocked.wait()

        again = PolicyEnforcer(synced, kernel=RuleThread("again", enter=net.node.enter))
        running = asyncio.create_task(again.run())
        await asyncio.sleep(0)
        assert net.node.call(_rules) == rules
        await found.drops(net.a.namespace, net.b.address)
        running.cancel()
        await asyncio.wait({running})
