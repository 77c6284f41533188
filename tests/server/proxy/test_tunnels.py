"""Requests to Pods and kubelets go through the tunnel of their node."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from sampan.core.addresses.dial import create_connection
from sampan.http.client import Connection
from sampan.registry.webhook.client import WebhookError
from sampan.registry.webhook.services import ServiceResolver
from sampan.registry.webhook.target import target_of
from sampan.server.aggregation.api_service import api_service_of
from sampan.server.aggregation.backend import Backends
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.proxy.exchange import Outgoing
from sampan.server.proxy.forward import Proxy
from sampan.server.request import UserInfo
from tests.registry.webhook.test_client import responding
from tests.registry.webhook.tls import bundle, ok
from tests.registry.webhook.tls import listening as webhook_at
from tests.server.proxy.kubelet import PODS, Cell, cell
from tests.server.proxy.test_pod_streams import SWITCHED, UPGRADE
from tests.server.proxy.test_proxies import SERVICES, fetch, hello
from tests.server.proxy.upstream import ReceivedRequest, Upstream, upstream
from tests.streams.linked import Linked, linked

ENDPOINTS = "/api/v1/namespaces/default/endpoints"
ADDRESS = "10.9.9.9"
"""Address of a Pod, which this machine does not reach."""


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse direct connections to other addresses, so that a failed test sends nothing to the network."""

    async def connect(make: Callable[[], Connection], host: str, port: int, **options: Any) -> Connection:
        assert host.startswith("127."), f"direct connection to {host}"
        return await create_connection(make, host, port, **options)

    monkeypatch.setattr("sampan.http.client.dial.create_connection", connect)


async def kubelet(requested: ReceivedRequest) -> None:
    if "upgrade" in requested.headers:
        await requested.send(SWITCHED + b"switched")
        await requested.gone()
    else:
        await requested.response(b"from the kubelet")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Cell]:
    async with cell(tmp_path, kubelet) as made:
        await made.add_pod(ip=ADDRESS)
        yield made


@pytest.fixture
async def web() -> AsyncIterator[Upstream]:
    async with upstream(hello) as served:
        yield served


@pytest.fixture
async def node(here: Cell, web: Upstream) -> AsyncIterator[Linked]:
    """The tunnel of the node. The Pod listens on port 80."""
    ports = {f"{ADDRESS}:80": web.port, "kubelet": here.kubelet.port}
    async with linked(here.api.cluster.tunnels, "n1", ports) as found:
        yield found


async def add_endpoints(here: Cell, **pods: str) -> None:
    """Add a Service and its Endpoints, addresses by Pod."""
    ports = [{"name": "web", "port": 80}]
    await here.api.create(SERVICES, {"metadata": {"name": "hook"}, "spec": {"ports": ports}})
    found = [
        {"ip": ip, "nodeName": "n1", "targetRef": {"kind": "Pod", "namespace": "default", "name": name}}
        for name, ip in pods.items()
    ]
    subsets = [{"addresses": found, "ports": ports}]
    await here.api.create(ENDPOINTS, {"metadata": {"name": "hook"}, "subsets": subsets})


async def test_a_pod_is_reached_through_the_tunnel(here: Cell, node: Linked) -> None:
    assert (await fetch(here, f"{PODS}/p:80/proxy/x")).code == 200
    assert node.targets == [f"{ADDRESS}:80"]


async def test_a_connection_through_the_tunnel_is_used_again(here: Cell, node: Linked) -> None:
    for _ in range(3):
        assert (await fetch(here, f"{PODS}/p:80/proxy/x")).code == 200
    assert node.targets == [f"{ADDRESS}:80"]


async def test_the_pod_of_a_service_is_reached_through_the_tunnel(here: Cell, node: Linked) -> None:
    await add_endpoints(here, p=ADDRESS)
    assert (await fetch(here, f"{SERVICES}/hook:web/proxy/x")).code == 200
    assert node.targets == [f"{ADDRESS}:80"]


async def test_the_kubelet_is_reached_through_the_tunnel(here: Cell, node: Linked) -> None:
    assert (await fetch(here, "/api/v1/nodes/n1/proxy/pods")).code == 200
    assert (await fetch(here, f"{PODS}/p/log")).code == 200
    response = await here.api.fetch("POST", f"{PODS}/p/exec?command=a", **UPGRADE)
    assert response.code == 101
    assert response.response.finished is not None
    response.response.finished()
    assert set(node.targets) == {"kubelet"}


async def test_a_target_that_the_node_refuses_is_reached_directly(here: Cell, node: Linked, web: Upstream) -> None:
    await here.add_pod("q", ip="127.0.0.1")
    assert (await fetch(here, f"{PODS}/q:{web.port}/proxy/x")).code == 200
    assert node.targets == [f"127.0.0.1:{web.port}"]


async def test_another_port_of_a_node_is_not_requested_through_the_tunnel(
    here: Cell, node: Linked, web: Upstream
) -> None:
    assert (await fetch(here, f"/api/v1/nodes/n1:{web.port}/proxy/x")).code == 200
    assert node.targets == []


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "224.0.0.1"])
async def test_an_address_that_is_never_dialled_is_not_requested_through_the_tunnel(
    here: Cell, node: Linked, address: str
) -> None:
    way = here.api.cluster.tunnels.to("n1")
    assert way is not None
    with pytest.raises(OSError, match="address not allowed"):
        await way.connect(asyncio.Protocol, address, 80, tls=None, server_name="")
    assert node.targets == []


async def test_a_request_ends_with_its_tunnel_and_the_error_names_the_node(here: Cell) -> None:
    started = asyncio.Event()

    async def never(requested: ReceivedRequest) -> None:
        started.set()
        await requested.gone()

    async with (
        upstream(never) as served,
        linked(here.api.cluster.tunnels, "n1", {f"{ADDRESS}:80": served.port}) as node,
        asyncio.TaskGroup() as group,
    ):
        request = group.create_task(fetch(here, f"{PODS}/p:80/proxy/x"))
        await started.wait()
        assert node.session is not None
        node.session.end("test")
        response = await request
    assert response.code == 503
    assert "the tunnel of node n1 ended" in response.message


async def test_a_refused_connection_has_the_text_of_a_direct_one(here: Cell) -> None:
    async with linked(here.api.cluster.tunnels, "n1", {f"{ADDRESS}:80": 1}):
        response = await fetch(here, f"{PODS}/p:80/proxy/x")
    text = f"error trying to reach service: dial tcp {ADDRESS}:80: connect: connection refused"
    assert (response.code, response.message) == (503, text)


async def test_another_endpoint_is_used_if_one_refuses_the_connection(here: Cell, web: Upstream) -> None:
    other = "10.9.9.10"
    ports = {f"{ADDRESS}:80": 1, f"{other}:80": web.port}
    await here.add_pod("q", ip=other)
    await add_endpoints(here, p=ADDRESS, q=other)
    async with linked(here.api.cluster.tunnels, "n1", ports):
        for _ in range(8):
            assert (await fetch(here, f"{SERVICES}/hook:web/proxy/x", "POST")).code == 200


async def test_a_webhook_in_a_pod_is_reached_through_the_tunnel(here: Cell, tmp_path: Path) -> None:
    await add_endpoints(here, p=ADDRESS)
    config = {"service": {"namespace": "default", "name": "hook", "port": 80}, "caBundle": bundle()}
    (tmp_path / "hook").mkdir()
    async with (
        webhook_at(tmp_path / "hook", responding(ok(b"{}"))) as port,
        linked(here.api.cluster.tunnels, "n1", {f"{ADDRESS}:80": port}) as node,
    ):
        assert await here.api.cluster.webhooks.connect(target_of(config)).post(b"{}", 60) == b"{}"
        assert node.targets == [f"{ADDRESS}:80"]
        assert node.session is not None
        here.api.cluster.webhooks.close()


async def test_a_webhook_with_a_wrong_certificate_is_refused_through_the_tunnel(here: Cell, tmp_path: Path) -> None:
    await add_endpoints(here, p=ADDRESS)
    config = {"service": {"namespace": "default", "name": "hook", "port": 80}}
    (tmp_path / "hook").mkdir()
    async with (
        webhook_at(tmp_path / "hook", responding(ok(b"{}"))) as port,
        linked(here.api.cluster.tunnels, "n1", {f"{ADDRESS}:80": port}),
    ):
        with pytest.raises(WebhookError, match="x509: certificate signed by unknown authority"):
            await here.api.cluster.webhooks.connect(target_of(config)).post(b"{}", 60)


async def test_an_aggregated_api_in_a_pod_is_reached_through_the_tunnel(here: Cell, tmp_path: Path) -> None:
    await add_endpoints(here, p=ADDRESS)
    cluster = here.api.cluster
    spec = {"version": "v1", "service": {"namespace": "default", "name": "hook", "port": 80}, "caBundle": bundle()}
    service = api_service_of({"metadata": {"name": "v1.example.com"}, "spec": spec})
    (tmp_path / "api").mkdir()
    async with (
        webhook_at(tmp_path / "api", responding(ok(b"{}"))) as port,
        linked(cluster.tunnels, "n1", {f"{ADDRESS}:80": port}) as node,
    ):
        backends = Backends(ServiceResolver(cluster.reader), AggregationSettings(), cluster.tunnels)
        target = backends.target(service, UserInfo("u"), "/apis")
        exchange = await Proxy().send(target, Outgoing("GET", {"host": "h", "content-length": "0"}))
        assert exchange.response.status == 200
        await exchange.aclose()
        assert node.targets == [f"{ADDRESS}:80"]
