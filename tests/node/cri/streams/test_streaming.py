"""The upgrade of a connection to a container runtime."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from sampan.node.cri.streams.streaming import open_session
from sampan.node.sessions import Streams

SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n"


@asynccontextmanager
async def runtime(*pieces: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Serve a runtime that sends these bytes, each in its own packet. Yields its URL, and the requests it gets."""
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/exec/TOKEN?a=b", requests


@pytest.mark.parametrize(
    "pieces",
    [(SWITCHED,), [bytes([byte]) for byte in SWITCHED], (b"HTTP/1.1 103 Early Hints\r\n\r\n", SWITCHED)],
    ids=["at once", "byte by byte", "after an interim response"],
)
async def test_a_runtime_that_switches_to_spdy_gets_streams(pieces: Sequence[bytes]) -> None:
    async with runtime(*pieces) as (url, requests):
        session = await open_session(url, Streams(stdout=True))
        await session.close()
    assert requests[0].startswith(b"POST /exec/TOKEN?a=b HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"\r\nUpgrade: SPDY/3.1\r\n" in requests[0]


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "refused with 404"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "sent no HTTP response"),
        (b"\x00\x01\x02\x03", "sent no HTTP response"),
        (b"", "closed the connection"),
    ],
    ids=["refusal", "switch without Upgrade", "not HTTP", "closed"],
)
async def test_a_runtime_that_does_not_switch_is_an_error(response: bytes, text: str) -> None:
    async with runtime(response) as (url, _):
        with pytest.raises(ConnectionRefusedError, match=f"the container runtime {text}"):
            await open_session(url, Streams(stdout=True))
