"""Servers that never answer, stop in the middle or vanish: no call waits for longer than its limit."""

import asyncio
import math
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sampan.client import (
    BlockingClient,
    Client,
    Config,
    DeleteOptions,
    JsonPatch,
    MergePatch,
    ResourceClient,
    TransportTimeout,
    connect,
)
from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ResourceInfo
from sampan.server.request import Request, Response
from sampan.testing.servers.in_process import InProcessTransport
from sampan.testing.time.virtual_time import elapsed, virtual_time
from tests.http.client.scripted import Peer, Script, scripted

CONFIG_MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
CONFIG_MAP: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "1"}}

Call = Callable[[ResourceClient[Object]], Awaitable[Any]]

CALLS: dict[str, Call] = {
    "get": lambda maps: maps.get("a"),
    "list": lambda maps: maps.list(),
    "list_all": lambda maps: maps.list_all(),
    "create": lambda maps: maps.create(CONFIG_MAP),
    "update": lambda maps: maps.update(CONFIG_MAP),
    "update_status": lambda maps: maps.update_status(CONFIG_MAP),
    "patch": lambda maps: maps.patch("a", MergePatch({})),
    "apply": lambda maps: maps.apply(CONFIG_MAP, field_manager="me"),
    "delete": lambda maps: maps.delete("a", DeleteOptions()),
    "delete_collection": lambda maps: maps.delete_collection(),
    "status": lambda maps: maps.status.patch("a", JsonPatch([])),
    "scale": lambda maps: maps.scale.get("a"),
    "metadata": lambda maps: maps.metadata_only().get("a"),
    "watch": lambda maps: anext(maps.watch()),
}


async def never_responds(peer: Peer) -> None:
    await peer.requested()
    await peer.gone()


async def stops_in_the_head(peer: Peer) -> None:
    await peer.requested()
    await peer.send(b"HTTP/1.1 200 OK\r\ncontent-ty")
    await peer.gone()


async def stops_in_the_body(peer: Peer) -> None:
    await peer.requested()
    await peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{")
    await peer.gone()


async def never_reads(peer: Peer) -> None:
    peer.writer.transport.pause_reading()  # type: ignore[attr-defined]
    await asyncio.Event().wait()


@asynccontextmanager
async def client_of(script: Script, limit_s: float) -> AsyncIterator[Client]:
    async with scripted(script) as server:
        config = Config(f"http://127.0.0.1:{server.address.port}", namespace="default")
        async with Client.from_config(config, request_timeout_s=limit_s) as client:
            yield client


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_a_call_without_a_response_times_out(call: Call) -> None:
    async with client_of(never_responds, 0.05) as client:
        with pytest.raises(TransportTimeout, match=r"no answer within 0.05 s"):
            await call(client.resource(CONFIG_MAPS))


@pytest.mark.parametrize("script", [stops_in_the_head, stops_in_the_body, never_reads])
@pytest.mark.parametrize("call", [CALLS["get"], CALLS["list"], CALLS["create"]], ids=["get", "list", "create"])
async def test_a_connection_that_falls_silent_ends_the_call(call: Call, script: Script) -> None:
    async with client_of(script, 0.05) as client:
        with pytest.raises(TransportTimeout):
            await call(client.resource(CONFIG_MAPS))


async def test_discovery_ends_too() -> None:
    async with client_of(never_responds, 0.05) as client:
        with pytest.raises(TransportTimeout):
            await client.resource_for("pods")


async def test_a_call_can_have_a_separate_limit() -> None:
    async with client_of(never_responds, math.inf) as client:
        with pytest.raises(TransportTimeout, match=r"no answer within 0.03 s"):
            await client.resource(CONFIG_MAPS).with_timeout(0.03).get("a")


async def test_a_client_can_have_other_limits_than_the_one_that_it_shares_connections_with() -> None:
    async with client_of(never_responds, math.inf) as client:
        hasty = client.with_defaults(request_timeout_s=0.03)
        for each in (hasty, hasty.through(lambda transport: transport), hasty.with_defaults(namespace="b")):
            with pytest.raises(TransportTimeout, match=r"no answer within 0.03 s"):
                await each.resource(CONFIG_MAPS).get("a")


async def test_a_timeout_closes_the_idle_connections_of_the_same_way() -> None:
    async def responds_once(peer: Peer) -> None:
        await peer.requested()
        await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        await peer.gone()

    async with client_of(responds_once, 0.05) as client:
        maps = client.resource(CONFIG_MAPS)
        await asyncio.gather(*(maps.get("a") for _ in range(3)))
        with pytest.raises(TransportTimeout):
            await maps.get("a")
        assert await maps.get("a") == {}


async def hangs(request: Request) -> Response:
    await asyncio.Event().wait()
    raise AssertionError


@virtual_time
async def test_the_limit_is_thirty_seconds_by_default() -> None:
    async with Client(InProcessTransport(hangs)) as client:

        async def get() -> None:
            with pytest.raises(TransportTimeout):
                await client.resource(CONFIG_MAPS).get("a")

        assert await elapsed(get()) == 30


@virtual_time
async def test_a_list_may_take_longer_as_long_as_it_makes_progress() -> None:
    async def slow(request: Request) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            yield b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":['
            for _ in range(5):
                await asyncio.sleep(20)
                yield b" "
            yield b"]}"

        return Response(200, b"", stream=parts())

    async with Client(InProcessTransport(slow)) as client:
        assert len(await client.resource(CONFIG_MAPS).list()) == 0


@virtual_time
async def test_without_a_limit_a_call_waits() -> None:
    async def late(request: Request) -> Response:
        await asyncio.sleep(3600)
        return Response(200, b"{}")

    async with Client(InProcessTransport(late), request_timeout_s=math.inf) as client:
        assert await client.resource(CONFIG_MAPS).get("a") == {}


@pytest.mark.parametrize("limit_s", [0, -1, math.nan])
def test_a_limit_that_is_none_is_refused(limit_s: float) -> None:
    with pytest.raises(ValueError, match="request_timeout_s must be positive"):
        Client(InProcessTransport(hangs), request_timeout_s=limit_s)


def test_every_way_to_a_client_takes_a_limit(tmp_path: Any) -> None:
    path = tmp_path / "config"
    path.write_text(
        "{clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}], current-context: a, "
        "contexts: [{name: a, context: {cluster: a}}]}"
    )
    assert connect(path, request_timeout_s=7).rest.request_timeout_s == 7
    with BlockingClient.connect(path, request_timeout_s=7) as blocking:
        assert blocking.asynchronous.rest.request_timeout_s == 7
        maps = blocking.resource(CONFIG_MAPS).with_timeout(8)
        assert maps.asynchronous._endpoint.rest.request_timeout_s == 8
    with BlockingClient.from_config(Config("http://127.0.0.1:1"), request_timeout_s=9) as blocking:
        assert blocking.asynchronous.rest.request_timeout_s == 9


async def test_the_kernel_notices_a_vanished_peer_within_forty_five_seconds() -> None:
    async with scripted(never_responds) as server, server.transport() as transport:
        connection = await transport._client.pool.acquire(transport._origin, stream=True)
        values = {
            name: connection.socket.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
            for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
            if hasattr(socket, name)
        }
    assert connection is not None
    if len(values) == 4:
        assert values["TCP_KEEPIDLE"] + values["TCP_KEEPINTVL"] * values["TCP_KEEPCNT"] <= 45
        assert values["TCP_USER_TIMEOUT"] <= 45_000
