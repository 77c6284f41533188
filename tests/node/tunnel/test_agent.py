"""An agent keeps a tunnel to each API server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sampan.client import Client, Config
from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.client import ServerAddress, Tunnel
from sampan.node.node_home import NodeHome
from sampan.node.server.hosted import HostedPod
from sampan.node.tunnel import agent as agents
from sampan.node.tunnel.agent import TunnelAgent
from sampan.node.tunnel.targets import TunnelTargets
from sampan.server.connections.listener import HttpServer
from sampan.streams.session import StreamSession
from tests.server.cluster import Api, served
from tests.server.test_websocket import listening as http
from tests.streams.sessions import listening

ADDRESSES = agents._addresses
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
ADDRESS = "203.0.113.9"
"""Address of the servers in EndpointSlices, which have no loopback addresses. Agents use 127.0.0.1 instead."""
WAIT_S = 60.0


class NoPods:
    """A node without Pods."""

    nodes: dict[str, NodeHome] = {}

    def hosted(self) -> Iterable[HostedPod]:
        return ()


@dataclass
class Server:
    """API server on a port of the loopback interface."""

    api: Api
    http: HttpServer
    port: int

    @property
    def tunnels(self) -> int:
        return self.api.cluster.tunnels.count


@asynccontextmanager
async def server() -> AsyncIterator[Server]:
    async with served() as api, http(api.server.handler) as (found, port):
        await api.create("/api/v1/nodes", {"metadata": {"name": "b"}})
        yield Server(api, found, port)


@asynccontextmanager
async def agent(to: Server, kubelet: int = 1) -> AsyncIterator[None]:
    """Run the agent of node b. Its configuration has one server."""

    async def registered() -> None:
        """Return at once: the Node exists."""

    config = Config(f"http://127.0.0.1:{to.port}", token="master-token")
    targets = TunnelTargets(NoPods(), lambda: ("127.0.0.1", kubelet))
    async with Client.from_config(config) as client, TaskScope() as tasks:
        tasks.begin(TunnelAgent(config, client, "b", targets, registered=registered).run())
        yield


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110 - servers have no event for it
            await asyncio.sleep(0.01)


async def advertise(api: Api, port: int, name: str = "kubernetes") -> None:
    """Write an EndpointSlice of the Service `kubernetes`."""
    await api.create(
        SLICES,
        {
            "metadata": {"name": name, "labels": {"kubernetes.io/service-name": "kubernetes"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [ADDRESS]}],
            "ports": [{"name": "https", "port": port}],
        },
    )


@pytest.fixture(autouse=True)
def _short_pauses_and_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = agents._addresses

    def local(*arguments: Any) -> Iterator[ServerAddress]:
        for each in addresses(*arguments):
            assert each.host == ADDRESS
            yield replace(each, host="127.0.0.1")

    monkeypatch.setattr(agents, "_addresses", local)
    monkeypatch.setattr(agents, "SERVERS_S", 0.05)


async def test_a_server_reaches_the_node_through_the_tunnel_that_its_agent_opens() -> None:
    async with listening() as port, server() as one, agent(one, int(port)):
        await until(lambda: one.tunnels)
        way = one.api.cluster.tunnels.to("b", kubelet=True)
        assert way is not None
        stream = await way.connect(Tunnel, "203.0.113.1", 10250, tls=None, server_name="")
        assert stream is not None
        stream.write(b"hello")
        async with asyncio.timeout(WAIT_S):
            assert await stream.read() == b"hello"
        pods = one.api.cluster.tunnels.to("b")
        assert pods is not None
        assert await pods.connect(Tunnel, "10.0.0.1", 80, tls=None, server_name="") is None


async def test_a_tunnel_that_ended_is_opened_again() -> None:
    async with server() as one, agent(one):
        ended: list[StreamSession | None] = [None]
        for _ in range(3):
            await until(lambda: one.api.cluster.tunnels.newest("b") not in ended)
            session = one.api.cluster.tunnels.newest("b")
            assert session is not None
            session.end("test")
            ended.append(session)


async def test_all_servers_of_the_cluster_get_a_tunnel() -> None:
    async with server() as one, server() as two, agent(one):
        await until(lambda: one.tunnels)
        assert two.tunnels == 0
        await advertise(one.api, two.port)
        await until(lambda: two.tunnels)
        assert (one.tunnels, two.tunnels) == (1, 1)
        await one.api.delete(f"{SLICES}/kubernetes")
        await until(lambda: not two.tunnels)
        assert one.tunnels == 1


async def test_the_slice_of_another_user_leads_to_no_tunnel() -> None:
    async with server() as one, server() as two, server() as forged, agent(one):
        await until(lambda: one.tunnels)
        await advertise(one.api, forged.port, "a-forged-one")
        await advertise(one.api, two.port)
        await until(lambda: two.tunnels)
        await one.api.delete(f"{SLICES}/kubernetes")
        await until(lambda: not two.tunnels)
        assert (one.tunnels, forged.tunnels) == (1, 0)


async def test_the_agent_waits_for_a_server_that_refuses_and_logs_the_reason_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with server() as one:
        await one.api.delete("/api/v1/nodes/b")
        async with agent(one):
            await until(lambda: 'the server responded with 404: nodes "b" not found' in caplog.text)
            await one.api.create("/api/v1/nodes", {"metadata": {"name": "b"}})
            await until(lambda: one.tunnels)
    assert caplog.text.count("the server responded with 404") == 1


@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "250.128.0.1", "example.com", ""])
def test_addresses_that_an_object_may_not_name_are_left_out(address: str) -> None:
    endpoints = [{"addresses": [address, ADDRESS]}]
    found = ADDRESSES({"endpoints": endpoints, "ports": [{"name": "https", "port": 6443}]}, "https")
    assert list(found) == [ServerAddress("https", ADDRESS, 6443)]
