"""Memory of connections is freed when the clients have gone, without the garbage collector, which runs seldom."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sampan.server.connections.listener import HttpServer
from sampan.server.connections.owner import ServedConnection
from tests.server.http2_client import Route, connected, running
from tests.server.test_abuse import listening
from tests.server.tls_files import make_files

GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
POST = b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"
Connections = list[weakref.ref[ServedConnection]]


@contextmanager
def remembered(server: HttpServer) -> Iterator[Connections]:
    """The connections that come, for as long as they are there; the collector rests."""
    observed: Connections = []
    taken = server.connected

    def remember(connection: ServedConnection) -> None:
        observed.append(weakref.ref(connection))
        taken(connection)

    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(server, "connected", remember)
            yield observed
    finally:
        gc.enable()


async def one_is_there(observed: Connections) -> None:
    """Returns when a connection has come."""
    async with asyncio.timeout(60):
        while not observed:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0.001)


async def all_are_free(observed: Connections) -> None:
    """Returns when none is there any more."""
    async with asyncio.timeout(60):
        while any(connection() is not None for connection in observed):  # noqa: ASYNC110  # memory tells nobody
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("sent", [b"", GET, GET[:9], POST], ids=["nothing", "get", "half a head", "half a body"])
async def test_a_client_of_http_1_leaves_nothing(sent: bytes) -> None:
    async with listening() as (server, address):
        with remembered(server) as observed:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(sent)
            await one_is_there(observed)
            if sent == GET:
                await reader.readuntil(b"\r\n\r\n")
            writer.close()
            await all_are_free(observed)


async def test_a_client_of_http_2_leaves_nothing(tmp_path: Path) -> None:
    async with running(make_files(tmp_path), Route()) as server:
        with remembered(server.server) as observed:
            async with connected(server) as client:
                await client.response(client.request("GET", "/echo/a"))
            await one_is_there(observed)
            await all_are_free(observed)
