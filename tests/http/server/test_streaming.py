"""Answers that come in parts, and connections that another protocol takes over."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from sampan.http.server import HttpLimits, HttpListener, Request, Respond, StreamedResponse, Takeover, Tunnel

LIMITS = HttpLimits(upgrades=True)
UPGRADE = b"POST / HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: echo\r\ncontent-length: 0\r\n\r\n"


@asynccontextmanager
async def listening(respond: Respond, limits: HttpLimits = LIMITS) -> AsyncIterator[HttpListener]:
    listener = HttpListener(respond, "127.0.0.1", 0, limits=limits)
    task = asyncio.create_task(listener.run())
    await listener.ready()
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.wait({task})


async def requested(listener: HttpListener, request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(request)
    return reader, writer


async def test_parts_arrive_as_they_are_made_and_the_connection_ends() -> None:
    go_on = asyncio.Event()

    async def parts() -> AsyncGenerator[bytes, None]:
        yield b"one"
        await go_on.wait()
        yield b""
        yield b"two"

    async def respond(request: Request) -> StreamedResponse:
        return StreamedResponse(200, parts())

    async with listening(respond) as listener:
        reader, writer = await requested(listener, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b"transfer-encoding: chunked" in await reader.readuntil(b"\r\n\r\n")
        assert await reader.readuntil(b"one\r\n") == b"3\r\none\r\n"
        go_on.set()
        assert await reader.read() == b"3\r\ntwo\r\n0\r\n\r\n"
        writer.close()


async def test_the_source_of_a_stream_is_closed_when_its_client_goes() -> None:
    closed = asyncio.Event()

    async def parts() -> AsyncGenerator[bytes, None]:
        try:
            yield b"one"
            await asyncio.Event().wait()
        finally:
            closed.set()

    async def respond(request: Request) -> StreamedResponse:
        return StreamedResponse(200, parts())

    async with listening(respond) as listener:
        reader, writer = await requested(listener, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await reader.readuntil(b"one\r\n")
        writer.close()
        await closed.wait()


async def test_a_client_that_does_not_read_stops_the_source() -> None:
    made = 0
    full = asyncio.Event()

    async def parts() -> AsyncGenerator[bytes, None]:
        nonlocal made
        for _ in range(1000):
            made += 1
            yield bytes(1 << 20)
            asyncio.get_running_loop().call_later(0.2, full.set)

    async def respond(request: Request) -> StreamedResponse:
        return StreamedResponse(200, parts())

    async with listening(respond) as listener:
        _, writer = await requested(listener, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await full.wait()
        assert made < 20
        writer.close()


async def test_a_stream_that_fails_has_no_end() -> None:
    async def parts() -> AsyncGenerator[bytes, None]:
        yield b"one"
        raise ValueError("a bug")

    async def respond(request: Request) -> StreamedResponse:
        return StreamedResponse(200, parts())

    async with listening(respond) as listener:
        reader, writer = await requested(listener, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await reader.readuntil(b"one\r\n")
        assert await reader.read() == b""
        writer.close()


async def test_a_silent_stream_is_cut() -> None:
    async def parts() -> AsyncGenerator[bytes, None]:
        yield b"one"
        await asyncio.Event().wait()

    async def respond(request: Request) -> StreamedResponse:
        return StreamedResponse(200, parts())

    async with listening(respond, HttpLimits(stream_idle_timeout_s=0.01)) as listener:
        reader, writer = await requested(listener, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await reader.readuntil(b"one\r\n")
        assert await reader.read() == b""
        writer.close()


async def echo(tunnel: Tunnel) -> None:
    while data := await tunnel.read():
        tunnel.write(data)
        await tunnel.drain()


async def test_a_connection_is_taken_over_with_what_was_sent_ahead() -> None:
    async def respond(request: Request) -> Takeover:
        return Takeover({"upgrade": request.headers["upgrade"]}, echo)

    async with listening(respond) as listener:
        reader, writer = await requested(listener, UPGRADE + b"ahead")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: Upgrade\r\n")
        assert await reader.readexactly(5) == b"ahead"
        writer.write(b"more")
        assert await reader.readexactly(4) == b"more"
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()


async def test_a_protocol_that_fails_ends_its_connection_alone() -> None:
    async def serve(tunnel: Tunnel) -> None:
        raise ValueError("a bug")

    async def respond(request: Request) -> Takeover:
        return Takeover({"upgrade": "echo"}, serve)

    async with listening(respond) as listener:
        for _ in range(2):
            reader, writer = await requested(listener, UPGRADE)
            assert (await reader.read()).startswith(b"HTTP/1.1 101")
            writer.close()


async def test_an_idle_takeover_is_cut() -> None:
    async def respond(request: Request) -> Takeover:
        return Takeover({"upgrade": "echo"}, echo)

    async with listening(respond, HttpLimits(upgrades=True, stream_idle_timeout_s=0.01)) as listener:
        reader, writer = await requested(listener, UPGRADE)
        assert (await reader.read()).startswith(b"HTTP/1.1 101")
        writer.close()
