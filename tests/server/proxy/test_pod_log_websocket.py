"""pods/log over a WebSocket: messages of at most 2,048 bytes of the log, after an empty one."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.server.frame import MASTER
from tests.server.proxy.kubelet import PODS, Cell, cell
from tests.server.proxy.upstream import ReceivedRequest
from tests.server.test_websocket import listening

LOG = b"one\ntwo\n" * 1000
BASE64 = "base64.binary.k8s.io"


async def lines(requested: ReceivedRequest) -> None:
    if "follow" in requested.target:
        await requested.send(b"HTTP/1.1 200 OK\r\n\r\none\n")
        await requested.gone()
    else:
        await requested.response(LOG)


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Cell]:
    async with cell(tmp_path, lines) as made:
        await made.add_pod()
        yield made


@asynccontextmanager
async def log(here: Cell, *protocols: str, name: str = "p", query: str = "") -> AsyncIterator[ClientConnection]:
    async with (
        listening(here.api.server.handler) as (_, port),
        connect(
            f"ws://127.0.0.1:{port}{PODS}/{name}/log{query}",
            additional_headers=MASTER,
            subprotocols=[Subprotocol(each) for each in protocols] or None,
            compression=None,
            proxy=None,
        ) as connection,
    ):
        yield connection


async def messages(connection: ClientConnection) -> list[str | bytes]:
    """Return all messages until the server closes."""
    return [message async for message in connection]


@pytest.mark.parametrize("protocols", [(), ("binary.k8s.io",), ("x", "binary.k8s.io")], ids=["none", "one", "two"])
async def test_a_log_comes_in_binary_messages(here: Cell, protocols: tuple[str, ...]) -> None:
    async with log(here, *protocols) as connection:
        assert connection.subprotocol == (protocols[-1] if protocols else None)
        first, *rest = await messages(connection)
    assert first == b""
    assert b"".join(bytes(each) for each in rest if isinstance(each, bytes)) == LOG
    assert max(map(len, rest)) == 2048


async def test_a_log_comes_in_base64(here: Cell) -> None:
    async with log(here, BASE64) as connection:
        assert connection.subprotocol == BASE64
        first, *rest = await messages(connection)
    assert first == ""
    assert b"".join(base64.b64decode(each) for each in rest if isinstance(each, str)) == LOG


async def test_a_client_that_closes_ends_the_request_to_the_kubelet(here: Cell) -> None:
    async with log(here, query="?follow=true") as connection:
        assert (await connection.recv(), await connection.recv()) == (b"", b"one\n")
        await connection.close()
        await here.kubelet.ended.wait()


async def test_an_unknown_protocol_is_refused(here: Cell) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with log(here, "v5.channel.k8s.io"):
            pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("name", "query", "code"), [("x", "", 404), ("p", "?container=x", 400), ("p", "?tailLines=-1", 422)]
)
async def test_errors_come_before_the_upgrade(here: Cell, name: str, query: str, code: int) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with log(here, name=name, query=query):
            pass
    assert refused.value.response.status_code == code


async def test_the_log_of_a_pod_without_a_node_is_empty(here: Cell) -> None:
    await here.add_pod("q", node=None)
    with pytest.raises(InvalidStatus) as refused:
        async with log(here, name="q"):
            pass
    assert refused.value.response.status_code == 204
