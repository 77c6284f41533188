"""WebSockets of the API server.

A handler that finds `wants_websocket(request)` answers `accept(request, serve)`; `await serve(websocket)` then has the
connection (`server/tunnel.py` says until when). The protocol itself is in `wire/websocket.py`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from wsproto.frame_protocol import CloseReason

from sampan.core.errors import bad_request
from sampan.server.request import Request, Response
from sampan.server.status import text_response
from sampan.server.tunnel import Tunnel
from sampan.wire.websocket import VERSION, BadHandshake, BadVersion, WebSocket, shake_hands
from sampan.wire.websocket import wants_websocket as headers_want_websocket

Serve = Callable[[WebSocket], Awaitable[None]]


def wants_websocket(request: Request) -> bool:
    """Whether the client asks for an upgrade to WebSocket."""
    return headers_want_websocket(request.headers)


def accept(request: Request, serve: Serve, protocols: Sequence[str] | None = None) -> Response:
    """The answer to a request that wants a WebSocket: 101, or 400 when its handshake is wrong.

    `protocols`: the sub-protocols that `serve` speaks, an empty string among them if it needs none. None: whatever
    the client names first.
    """
    try:
        protocol, fields = shake_hands(request.method, request.headers, protocols)
    except BadVersion as error:
        refusal = text_response(400, f"{error}\n")
        refusal.headers.append((b"Sec-WebSocket-Version", VERSION.encode()))
        return refusal
    except BadHandshake as error:
        raise bad_request(str(error)) from None

    async def takeover(tunnel: Tunnel) -> None:
        websocket = WebSocket(tunnel, protocol)
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
