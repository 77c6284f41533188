"""A client that sends many tiny TLS records is decrypted a few at a time."""

import asyncio
import gc
import shutil
import socket
import ssl
import subprocess
import time
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sampan.core.errors import StatusError
from sampan.server.limited_reads import OWN_READS_PER_TURN, READS_PER_TURN, LimitedReads
from sampan.server.listener import HttpServer
from sampan.server.request import Request, Response
from sampan.server.status import status_response
from tests.server.test_tls import serving_tls
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


async def in_records(port: int, body: bytes) -> bytes:
    """Send a request whose body comes in records of one byte, all at once. Return the response."""
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
    for byte in body:
        client.write(bytes((byte,)))
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
def counted_reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[int]]:
    """Yield the number of reads by turn of the event loop."""
    reads: Counter[int] = Counter()
    turn = 0
    plain = ssl.SSLObject.read

    def counted(self: ssl.SSLObject, *arguments: Any) -> Any:
        reads[turn] += isinstance(self, LimitedReads)
        return plain(self, *arguments)

    def next_turn() -> None:
        nonlocal turn
        turn += 1
        asyncio.get_running_loop().call_soon(next_turn)

    with monkeypatch.context() as patched:
        patched.setattr(ssl.SSLObject, "read", counted)
        next_turn()
        yield reads


async def test_records_are_decrypted_a_few_in_each_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with listening(tmp_path) as (_, port):
        with counted_reads(monkeypatch) as reads:
            assert (await in_records(port, b"x" * RECORDS)).endswith(b"%d" % RECORDS)
    assert reads.total() >= RECORDS
    assert max(reads.values()) <= READS_PER_TURN + 1


async def test_records_of_all_connections_share_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.server.listener.ALL_READS_PER_TURN", 5 * READS_PER_TURN)
    connections, records = 50, 10 * READS_PER_TURN
    async with listening(tmp_path) as (_, port):
        with counted_reads(monkeypatch) as reads:
            body = b"x" * records
            found = await asyncio.gather(*(in_records(port, body) for _ in range(connections)))
    assert all(each.endswith(b"%d" % records) for each in found)
    # A turn of the test may have the end of one turn of the server and the beginning of the next.
    assert max(reads.values()) <= 2 * (5 * READS_PER_TURN + connections * OWN_READS_PER_TURN)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the program openssl")
async def test_records_without_data_are_decrypted_a_few_in_each_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenSSL processes all such records that it has in one call: here, requests for new keys."""
    updates = 6 * READS_PER_TURN
    async with listening(tmp_path) as (server, port):
        command = ["openssl", "s_client", "-tls1_3", "-connect", f"127.0.0.1:{port}"]
        with subprocess.Popen(command, stdin=-1, stdout=-3, stderr=-3) as client:  # noqa: ASYNC220  # it must block
            assert client.stdin is not None
            while not server.connection_count:  # noqa: ASYNC110  # it notifies nothing
                await asyncio.sleep(0.01)
            with counted_reads(monkeypatch) as reads:
                for _ in range(updates):  # the server is in this thread, so all of them arrive in the same turn
                    client.stdin.write(b"K\n")
                    client.stdin.flush()
                    time.sleep(0.002)  # noqa: ASYNC251
                async with asyncio.timeout(30):
                    while reads.total() < updates // 2:  # noqa: ASYNC110  # it notifies nothing
                        await asyncio.sleep(0.01)
            client.kill()
    assert max(reads.values()) <= READS_PER_TURN + 1


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
