"""A client that sends many tiny TLS records is decrypted a few at a time."""

import asyncio
import gc
import socket
import ssl
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sampan.core.errors import StatusError
from sampan.server.connections.limited_reads import BYTES_PER_TURN, OWN_READS_PER_TURN, READS_PER_TURN, LimitedReads
from sampan.server.connections.listener import HttpServer
from sampan.server.request import Request, Response
from sampan.server.status import status_response
from tests.server.tls.test_serving import serving_tls
from tests.server.tls_files import make_files

RECORDS = 40 * READS_PER_TURN


async def echo(request: Request) -> Response:
    """Answers with the size of the body."""
    try:
        return Response(body=b"%d" % len(await request.wire.read_body(1 << 20)))
    except StatusError as error:
        return status_response(error)


@asynccontextmanager
async def listening(directory: Path) -> AsyncIterator[tuple[HttpServer, int]]:
    server = HttpServer(echo)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, serving_tls(make_files(directory)).context)
    try:
        yield server, sock.getsockname()[1]
    finally:
        server.stop_listening()
        await server.drain(5)


async def in_records(port: int, body: bytes, record_bytes: int = 1) -> bytes:
    """Send a request whose body comes in records of this size, all at once. Return the response."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        with suppress(ssl.SSLWantReadError):
            client.do_handshake()
            break
        writer.write(outgoing.read())
        incoming.write(await reader.read(1 << 16))
    client.write(b"POST /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
    for at in range(0, len(body), record_bytes):
        client.write(body[at : at + record_bytes])
    writer.write(outgoing.read())
    found = b""
    async with asyncio.timeout(60):
        while received := await reader.read(1 << 16):
            incoming.write(received)
            with suppress(ssl.SSLWantReadError, ssl.SSLZeroReturnError):
                while piece := client.read():
                    found += piece
    writer.close()
    return found


@contextmanager
def counted(
    monkeypatch: pytest.MonkeyPatch, patched: type[Any], method: str, amount: Callable[[Any], int]
) -> Iterator[Counter[int]]:
    """Yield by how much `amount(self)` falls in all calls of a method, by turn of the event loop."""
    sums: Counter[int] = Counter()
    turn = 0
    plain = getattr(patched, method)

    def call(self: Any, *arguments: Any) -> Any:
        before = amount(self)
        try:
            return plain(self, *arguments)
        finally:
            sums[turn] += before - amount(self)

    def next_turn() -> None:
        nonlocal turn
        turn += 1
        asyncio.get_running_loop().call_soon(next_turn)

    with monkeypatch.context() as context:
        context.setattr(patched, method, call)
        next_turn()
        yield sums


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> AbstractContextManager[Counter[int]]:
    """Yield the number of reads by turn."""
    calls: Counter[Any] = Counter()

    def amount(self: Any) -> int:
        calls[self] -= isinstance(self, LimitedReads)
        return calls[self]

    return counted(monkeypatch, ssl.SSLObject, "read", amount)


def counted_bytes(monkeypatch: pytest.MonkeyPatch) -> AbstractContextManager[Counter[int]]:
    """Yield the number of bytes for OpenSSL by turn."""
    return counted(monkeypatch, LimitedReads, "_feed", lambda self: self._incoming.pending)


async def test_records_are_decrypted_a_few_in_each_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(tmp_path) as (_, port):
        with counted_reads(monkeypatch) as reads:
            assert (await in_records(port, b"x" * RECORDS)).endswith(b"%d" % RECORDS)
    assert reads.total() >= RECORDS
    assert max(reads.values()) <= READS_PER_TURN + 1


async def test_records_of_all_connections_share_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.server.connections.listener.ALL_READS_PER_TURN", 5 * READS_PER_TURN)
    connections, records = 50, 10 * READS_PER_TURN
    async with listening(tmp_path) as (_, port):
        with counted_reads(monkeypatch) as reads:
            body = b"x" * records
            found = await asyncio.gather(*(in_records(port, body) for _ in range(connections)))
    assert all(each.endswith(b"%d" % records) for each in found)
    # A turn of the test may have the end of one turn of the server and the beginning of the next.
    assert max(reads.values()) <= 2 * (5 * READS_PER_TURN + connections * OWN_READS_PER_TURN)


async def test_openssl_gets_a_few_bytes_of_a_connection_in_each_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It processes all records without data that it has in one call, for example requests for new keys."""
    size = 8 * BYTES_PER_TURN
    async with listening(tmp_path) as (_, port):
        with counted_bytes(monkeypatch) as fed:
            assert (await in_records(port, b"x" * size, 16384)).endswith(b"%d" % size)
    assert fed.total() > size
    assert max(fed.values()) <= 2 * BYTES_PER_TURN


async def test_a_closed_connection_leaves_nothing_for_the_collector(tmp_path: Path) -> None:
    async with listening(tmp_path) as (server, port):
        gc.collect()
        gc.disable()
        try:
            await in_records(port, b"x")
            reads = [weakref.ref(each) for each in gc.get_objects() if isinstance(each, LimitedReads)]
            while server.connection_count:  # noqa: ASYNC110  # it notifies nothing
                await asyncio.sleep(0)
            for _ in range(5):
                await asyncio.sleep(0.01)
            assert [each() for each in reads if each() is not None] == []
        finally:
            gc.enable()
