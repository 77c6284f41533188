"""Network probes of servers on this machine."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import h2.config
import h2.connection
import h2.events
import pytest

from sampan.node.probes.grpc import probe_grpc
from sampan.node.probes.http import http_get_of, probe_http
from sampan.node.probes.ports import resolve_port
from sampan.node.probes.tcp import probe_tcp
from sampan.node.views.container import Container, ContainerPort, HttpGetAction, HttpHeader

Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(handle: Handle) -> AsyncIterator[int]:
    """Run a server, and return its port. Clients may disconnect at any time."""
    tasks: set[asyncio.Task[None]] = set()

    async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await handle(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(guarded, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()
        if tasks:
            await asyncio.wait(tasks)


def responding(response: bytes, received: list[bytes] | None = None) -> Handle:
    """Return a handler that sends the same response to every request."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if received is not None:
            received.append(head)
        writer.write(response)
        await writer.drain()

    return handle


async def get(port: int, timeout_s: float = 5.0, **action: Any) -> Any:
    desired = HttpGetAction(port=port, **action)
    return await probe_http(http_get_of(desired, Container(), "127.0.0.1"), timeout_s)


@pytest.mark.parametrize(
    ("response", "result", "output"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "success", "ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "success", ""),
        (b"HTTP/1.0 200 OK\r\n\r\nall of it", "success", "all of it"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 6\r\n\r\nsecret", "failure", "HTTP probe failed with statuscode: 503"),
        (
            b"HTTP/1.1 302 F\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n",
            "warning",
            "Probe terminated redirects, Response body: ",
        ),
    ],
    ids=["200", "204", "until the end", "503", "elsewhere"],
)
async def test_http_status_decides_the_outcome(response: bytes, result: str, output: str) -> None:
    async with listening(responding(response)) as port:
        outcome = await get(port, path="/healthz")
        assert (outcome.result, outcome.output) == (result, output)


async def test_requests_have_the_headers_of_probe_and_kubelet() -> None:
    received: list[bytes] = []
    async with listening(responding(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", received)) as port:
        await get(port, path="healthz?a=b", http_headers=[HttpHeader("Host", "example.com"), HttpHeader("X-A", "1")])
    lines = received[0].decode().split("\r\n")
    assert lines[:2] == ["GET /healthz?a=b HTTP/1.1", "Host: example.com"]
    assert {"X-A: 1", "User-Agent: kube-probe/1.36", "Accept: */*", "Connection: close"} <= set(lines)


async def test_endless_body_is_not_read_to_its_end() -> None:
    async with listening(responding(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 1_000_000)) as port:
        assert len((await get(port)).output) == 10_240


async def test_refused_connection_is_a_failure() -> None:
    async with listening(responding(b"")) as port:
        pass
    text = f"dial tcp 127.0.0.1:{port}: connect: connection refused"
    assert (await get(port, path="/x")).output == f'Get "http://127.0.0.1:{port}/x": {text}'
    assert (await probe_tcp("127.0.0.1", port, 1.0)).output == text
    assert "failed to connect service" in (await probe_grpc("127.0.0.1", port, "", 1.0)).output


async def test_missing_response_times_out() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(silent) as port:
        assert (await get(port, timeout_s=0.05)).output.endswith("exceeded while awaiting headers)")
        text = "timeout: health rpc did not complete within 0.05s"
        assert (await probe_grpc("127.0.0.1", port, "", 0.05)).output == text
        assert (await probe_tcp("127.0.0.1", port, 1.0)).is_success


def health(status: int, code: int = 0) -> Handle:
    """Run a server of grpc.health.v1."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        while data := await reader.read(4096):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.StreamEnded):
                    response(connection, event.stream_id or 0)
            writer.write(connection.data_to_send())

    def response(connection: h2.connection.H2Connection, stream: int) -> None:
        connection.send_headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
        if not code:
            message = bytes([0x08, status]) if status else b""
            connection.send_data(stream, b"\x00" + len(message).to_bytes(4, "big") + message)
        connection.send_headers(stream, [("grpc-status", str(code)), ("grpc-message", "no")], end_stream=True)

    return handle


@pytest.mark.parametrize(
    ("status", "code", "output"),
    [
        (1, 0, "service healthy"),
        (2, 0, 'service unhealthy (responded with "NOT_SERVING")'),
        (0, 0, 'service unhealthy (responded with "UNKNOWN")'),
        (0, 12, "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): no"),
        (0, 5, "error: health rpc probe failed: rpc error: code = 5 desc = no"),
    ],
)
async def test_grpc_status_decides_the_outcome(status: int, code: int, output: str) -> None:
    async with listening(health(status, code)) as port:
        assert (await probe_grpc("127.0.0.1", port, "shop", 5.0)).output == output


@pytest.mark.parametrize(
    ("sent", "output"),
    [
        ((1 << 20).to_bytes(3, "big") + bytes(6), "frame of 1048576 bytes, at most 16384 are allowed"),
        ((8).to_bytes(3, "big") + bytes([6]) + bytes(13), "too many control frames"),
    ],
)
async def test_server_of_a_container_cannot_keep_the_agent_busy(sent: bytes, output: str) -> None:
    async def flooding(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]) + sent * 1000)
        await writer.drain()
        await reader.read()

    async with listening(flooding) as port:
        assert (await probe_grpc("127.0.0.1", port, "", 5.0)).output == f"error: health rpc probe failed: {output}"


@pytest.mark.parametrize(("port", "number"), [(80, 80), ("http", 8080), ("81", 81)])
def test_ports_have_numbers_and_names(port: int | str, number: int) -> None:
    assert resolve_port(port, Container(ports=[ContainerPort("http", 8080)])) == number


@pytest.mark.parametrize("port", ["none", 0, 65536])
def test_invalid_ports_are_refused(port: int | str) -> None:
    with pytest.raises(ValueError, match="port"):
        resolve_port(port, Container())
