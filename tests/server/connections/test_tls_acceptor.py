"""Accepted connections begin their TLS handshakes a few at a time, and silent ones end."""

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sampan.server.connections.settings import HttpSettings
from sampan.server.connections.tls_acceptor import HANDSHAKES_PER_TURN, TlsAcceptor
from tests.server.tls.test_serving import serving_tls
from tests.server.tls_files import make_files

CLIENTS = 4 * HANDSHAKES_PER_TURN


class Begun(asyncio.Protocol):
    """Counts the handshakes that begin in each turn of the loop."""

    def __init__(self) -> None:
        self.iteration = 0
        self.iterations: Counter[int] = Counter()

    def count_iterations(self) -> None:
        self.iteration += 1
        asyncio.get_running_loop().call_soon(self.count_iterations)

    def make(self) -> asyncio.Protocol:
        self.iterations[self.iteration] += 1
        return self


@asynccontextmanager
async def accepting(directory: Path, begun: Begun, **settings: float) -> AsyncIterator[tuple[TlsAcceptor, int]]:
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    port = sock.getsockname()[1]
    context = serving_tls(make_files(directory)).context
    acceptor = TlsAcceptor(sock, context, HttpSettings(**settings), begun.make)  # type: ignore[arg-type]  # times
    try:
        yield acceptor, port
    finally:
        acceptor.close()
        await acceptor.end()


async def until_pending(acceptor: TlsAcceptor, count: int) -> None:
    async with asyncio.timeout(30):
        while acceptor.pending != count:  # noqa: ASYNC110  # it notifies nothing
            await asyncio.sleep(0)


async def until_closed(reader: asyncio.StreamReader) -> None:
    with suppress(ConnectionResetError):  # the kernel's response where it has data that was not read
        assert await reader.read() == b""


async def test_clients_that_send_at_once_are_spread_over_turns(tmp_path: Path) -> None:
    begun = Begun()
    async with accepting(tmp_path, begun) as (acceptor, port):
        with ExitStack() as stack:
            clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(CLIENTS)]
            await until_pending(acceptor, CLIENTS)
            begun.count_iterations()
            for client in clients:
                client.send(b"\x16")
            await until_pending(acceptor, 0)
            await asyncio.sleep(0)  # the last tasks begin
    assert begun.iterations.total() == CLIENTS
    assert max(begun.iterations.values()) <= HANDSHAKES_PER_TURN


async def test_a_client_that_sends_nothing_is_closed_in_time(tmp_path: Path) -> None:
    begun = Begun()
    async with accepting(tmp_path, begun, handshake_timeout_s=0.01) as (acceptor, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()
    assert begun.iterations.total() == acceptor.pending == 0


@pytest.mark.parametrize("hello", [b"", b"\x16", b"\x16\x03\x01\x02\x00"], ids=["none", "first byte", "header"])
async def test_no_connection_is_left_after_the_end(tmp_path: Path, hello: bytes) -> None:
    begun = Begun()
    async with accepting(tmp_path, begun) as (acceptor, port):
        clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(CLIENTS)]
        await until_pending(acceptor, CLIENTS)
        for _, writer in clients:
            writer.write(hello)
        await until_pending(acceptor, 0 if hello else CLIENTS)
        acceptor.close()
        await acceptor.end()
        async with asyncio.timeout(30):
            await asyncio.gather(*(until_closed(reader) for reader, _ in clients))
    for _, writer in clients:
        writer.close()
    assert begun.iterations.total() == (CLIENTS if hello else 0)


class Exhausted:
    """Listening socket without descriptors for its connections, once."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._failed = sock, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def accept(self) -> tuple[socket.socket, Any]:
        if not self._failed:
            self._failed = True
            raise OSError(errno.EMFILE, "Too many open files")
        return self._sock.accept()


async def test_accepting_goes_on_after_descriptors_were_exhausted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sampan.server.connections.tls_acceptor._PAUSE_S", 0.01)
    async with accepting(tmp_path, Begun()) as (acceptor, port):
        monkeypatch.setattr(acceptor, "_sock", Exhausted(acceptor._sock))
        with caplog.at_level(logging.WARNING), socket.create_connection(("127.0.0.1", port)):
            await until_pending(acceptor, 1)
    assert "cannot accept connections: [Errno 24] Too many open files" in caplog.text
