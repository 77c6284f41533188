"""WebSockets of the API server.

A handler checks `wants_websocket(request)` and returns `accept(request, serve)`. `await serve(websocket)` then owns the
connection (`Response.takeover` defines how long). The protocol is in `wire/websocket.py`.

Concurrency: in `send_stream` one task sends messages and one waits for the client's Close. The first that ends cancels
the other. Messages from the client are ignored.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

from wsproto.frame_protocol import CloseReason

from sampan.core.errors import bad_request
from sampan.http.tunnel import Tunnel
from sampan.server.request import Request, Response
from sampan.server.status import text_response
from sampan.wire.websocket import (
    MESSAGE_BYTES_MAX,
    VERSION,
    BadHandshake,
    BadProtocol,
    BadVersion,
    WebSocket,
    accept_upgrade,
)
from sampan.wire.websocket import wants_websocket as headers_want_websocket

Serve = Callable[[WebSocket], Awaitable[None]]
Split = Callable[[bytes], Iterable[str | bytes]]
"""Splits a chunk of a stream into messages."""
MESSAGES_PER_TURN = 32
"""Number of messages of a WebSocket that are sent before the event loop serves other connections."""


def wants_websocket(request: Request) -> bool:
    """Return True if the client requests an upgrade to WebSocket."""
    return headers_want_websocket(request.headers)


def accept(
    request: Request,
    serve: Serve,
    protocols: Sequence[str] | None = None,
    *,
    message_bytes_max: int = MESSAGE_BYTES_MAX,
) -> Response:
    """Return the response to an upgrade request: 101, 403 if no sub-protocol fits, or 400 if the handshake is
    malformed.

    `protocols` are the sub-protocols of `serve`, with an empty string if none is required. None accepts the first one
    of the client. `message_bytes_max` limits the messages of the client.
    """
    try:
        protocol, fields = accept_upgrade(request.wire.method, request.headers, protocols)
    except BadVersion as error:
        refusal = text_response(400, f"{error}\n")
        refusal.headers.append((b"Sec-WebSocket-Version", VERSION.encode()))
        return refusal
    except BadProtocol:
        return Response(403, content_type="")
    except BadHandshake as error:
        raise bad_request(str(error)) from None

    async def takeover(tunnel: Tunnel) -> None:
        websocket = WebSocket(tunnel, protocol, message_bytes_max=message_bytes_max)
        try:
            await serve(websocket)
        except asyncio.CancelledError:
            websocket.close(CloseReason.GOING_AWAY)
            raise
        websocket.close()

    response = Response(101, content_type="", takeover=takeover)
    response.headers += [(name.title().encode(), value.encode()) for name, value in fields.items()]
    response.headers.append((b"Connection", b"Upgrade"))
    return response


async def send_stream(websocket: WebSocket, stream: AsyncIterator[bytes], split: Split) -> None:
    """Send messages until the stream ends or the client closes. Closes the stream."""
    async with asyncio.TaskGroup() as group:
        ends = {group.create_task(_send(websocket, stream, split)), group.create_task(_ignore(websocket))}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in ends:
            task.cancel()


async def _send(websocket: WebSocket, stream: AsyncIterator[bytes], split: Split) -> None:
    try:
        async for chunk in stream:
            for number, message in enumerate(split(chunk), 1):
                await websocket.send(message)
                if number % MESSAGES_PER_TURN == 0:
                    await asyncio.sleep(0)  # Sending does not yield, and the client may have disconnected.
    finally:
        aclose: Callable[[], Awaitable[None]] | None = getattr(stream, "aclose", None)
        if aclose is not None:
            await aclose()


async def _ignore(websocket: WebSocket) -> None:
    while await websocket.receive() is not None:
        pass
