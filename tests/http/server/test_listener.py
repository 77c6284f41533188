"""The listener over real sockets: what is kept alive, what is refused, how it ends."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import uvloop

from sampan.core.time import SystemClock
from sampan.http.server import HttpLimits, HttpListener, Request, Response
from sampan.http.tunnel import Tunnel
from sampan.operator.webhook.certificates import IssuedCertificates
from sampan.operator.webhook.certificates.memory_store import MemoryCertificates
from sampan.operator.webhook.serving_tls import ServingContext

LIMITS = HttpLimits(head_bytes_max=1000, body_bytes_max=lambda path: 10 if path == "/small" else 1 << 20)


async def echo(request: Request) -> Response:
    if request.path == "/fail":
        raise ValueError("a bug")
    return Response(200, request.method.encode() + b" " + request.body)


@asynccontextmanager
async def listening(limits: HttpLimits = LIMITS, tls: ssl.SSLContext | None = None) -> AsyncIterator[HttpListener]:
    listener = HttpListener(echo, "127.0.0.1", 0, limits=limits, tls=tls)
    task = asyncio.create_task(listener.run())
    await listener.ready()
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.wait({task})


async def talk(port: int, *parts: bytes) -> bytes:
    """Send parts one after the other, each when something has come for the last; gives all that comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found = b""
    for part in parts:
        if found or part is not parts[0]:
            found += await reader.read(65_536)
        writer.write(part)
    found += await reader.read()
    writer.close()
    return found


def post(path: str, body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n{lines}\r\n".encode() + body


async def test_a_connection_serves_one_request_after_the_other() -> None:
    async with listening() as listener:
        response = await talk(listener.port, post("/", b"one"), post("/", b"two", "connection: close"))
        assert response.count(b"HTTP/1.1 200 OK") == 2
        assert response.endswith(b"POST two")


async def test_pipelined_requests_get_their_responses_in_order() -> None:
    async with listening() as listener:
        response = await talk(listener.port, post("/", b"one") + post("/", b"two", "connection: close"))
        assert response.index(b"POST one") < response.index(b"POST two")


CHUNKED = b"POST /small HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (post("/small", b"01234567890"), 413),
        (CHUNKED, 413),
        (post("/", b"", f"x: {'y' * 1000}"), 431),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 1000, 431),
        (b"garbage\r\n\r\n", 400),
        (post("/fail", b"", "connection: close"), 500),
        (b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n", 400),
    ],
    ids=["length", "chunks", "header", "endless head", "no HTTP", "bug", "upgrade"],
)
async def test_a_request_that_cannot_be_served_is_reported_why(request_: bytes, code: int) -> None:
    async with listening() as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(request_)
        assert (await reader.readline()).startswith(b"HTTP/1.1 %d " % code)
        writer.close()


async def test_a_client_that_waits_for_leave_to_send_its_body_gets_it() -> None:
    async with listening() as listener:
        whole = post("/", b"body", "expect: 100-continue", "connection: close")
        response = await talk(listener.port, whole[:-4], whole[-4:])
        assert response.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


async def test_a_tls_client_that_cuts_its_connection_does_not_end_the_listener() -> None:
    issued = IssuedCertificates(MemoryCertificates(), ("127.0.0.1",), SystemClock())
    await issued.refresh()
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    async with listening(tls=ServingContext(issued).context) as listener:
        for is_reset in (True, False):
            reader, writer = await asyncio.open_connection("127.0.0.1", listener.port, ssl=trusting)
            writer.write(post("/", b"one"))
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            if is_reset:
                end = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, end)
            writer.transport.abort()
            await asyncio.wait_for(no_connections(listener), 60)
        assert listener.serving


async def no_connections(listener: HttpListener) -> None:
    """Wait until the listener has no connection. If it has ended, return too."""
    while listener.serving and listener._connections:  # noqa: ASYNC110  (nothing tells the end of a connection)
        await asyncio.sleep(0.01)


async def test_a_silent_connection_is_closed() -> None:
    async with listening(HttpLimits(idle_timeout_s=0.01)) as listener:
        assert await talk(listener.port, b"") == b""


async def test_connections_beyond_the_bound_are_closed() -> None:
    async with listening(HttpLimits(connections_max=1)) as listener:
        first, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(post("/", b""))
        await first.readline()
        (further,) = await asyncio.gather(talk(listener.port, post("/", b"")), return_exceptions=True)
        assert further == b"" or isinstance(further, ConnectionError)
        writer.close()


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="the machine has no IPv6")
def test_a_free_port_is_the_same_on_all_addresses(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def connect_to_each() -> None:
        listener = HttpListener(echo, "", 0)
        task = asyncio.create_task(listener.run())
        await listener.ready()
        for host in ("127.0.0.1", "::1"):
            _, writer = await asyncio.open_connection(host, listener.port)
            writer.close()
        task.cancel()
        await asyncio.wait({task})

    with asyncio.Runner(loop_factory=loop) as runner:
        for _ in range(10):
            runner.run(connect_to_each())


async def test_draining_ends_idle_connections_and_lets_requests_end() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(request: Request) -> Response:
        begun.set()
        await go_on.wait()
        return Response(200, b"done")

    listener = HttpListener(slow, "127.0.0.1", 0)
    running = asyncio.create_task(listener.run())
    await listener.ready()
    idle, idle_writer = await asyncio.open_connection("127.0.0.1", listener.port)
    requested = asyncio.create_task(talk(listener.port, post("/", b"")))
    await begun.wait()
    draining = asyncio.create_task(listener.drain())
    assert await idle.read() == b""
    go_on.set()
    assert (await requested).endswith(b"connection: close\r\n\r\ndone")
    await draining
    await running
    assert not listener.serving
    idle_writer.close()


class ClosedTransport(asyncio.Transport):
    """Transport as of CPython 3.11.2: a second `close` makes `abort` fail."""

    def __init__(self) -> None:
        super().__init__()
        self.closes = 0

    def is_closing(self) -> bool:
        return self.closes > 0

    def close(self) -> None:
        self.closes += 1


async def test_a_lost_connection_is_not_closed_again() -> None:
    tunnel, transport = Tunnel(), ClosedTransport()
    tunnel.connection_made(transport)
    transport.close()
    tunnel.connection_lost(None)
    await tunnel.aclose()
    assert transport.closes == 1
