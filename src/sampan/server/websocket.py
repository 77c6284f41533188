"""`WebSocket`: messages over an upgraded connection.

A handler that finds `wants_websocket(request)` answers `accept(request, serve)`; `await serve(websocket)` then has the
connection (`server/tunnel.py` says until when). Pings are answered and a client's Close is returned while somebody is
in `receive`. Masks, lengths and UTF-8 are the wsproto library's care; what breaks the rules ends the connection, with
the code that says so.
Source: streaming pkg/httpstream/wsstream, golang.org/x/net/websocket (1.36); RFC 6455.
"""

import asyncio
import base64
import binascii
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import generate_accept_token

from sampan.core.errors import bad_request
from sampan.server.request import Request, Response
from sampan.server.status import text_response
from sampan.server.tunnel import Tunnel

MESSAGE_BYTES_MAX = 1 << 20
"""Of one message from a client; a longer one ends the connection."""
_VERSION = "13"
_KEY_BYTES = 16


class WebSocket:
    """One connection. Messages are text (`str`) or binary (`bytes`)."""

    def __init__(self, tunnel: Tunnel, protocol: str = "") -> None:
        self.protocol = protocol
        """The sub-protocol that was agreed on; empty: none."""
        self._tunnel = tunnel
        self._frames = Connection(ConnectionType.SERVER)
        self._events: deque[Event] = deque()
        self._parts: list[str | bytes] = []
        self._size = 0

    async def receive(self) -> str | bytes | None:
        """The next message; None when the client has said good-bye or gone. One reader at a time."""
        while True:
            while self._events:
                message = self._take(self._events.popleft())
                if message is not None:
                    return message
            if self._frames.state is not ConnectionState.OPEN:
                return None
            await self._tunnel.drain()
            data = await self._tunnel.read()
            if not data:
                return None
            self._frames.receive_data(data)
            self._events.extend(self._frames.events())

    async def send(self, data: str | bytes) -> None:
        """Send a message, and wait until the client has read most of what was sent; nothing happens after a Close."""
        if self._frames.state is ConnectionState.OPEN:
            message = TextMessage(data) if isinstance(data, str) else BytesMessage(data)
            self._tunnel.write(self._frames.send(message))
            await self._tunnel.drain()

    def close(self, code: int = CloseReason.NORMAL_CLOSURE, reason: str = "") -> None:
        """Say good-bye, once."""
        if self._frames.state is ConnectionState.OPEN:
            self._tunnel.write(self._frames.send(CloseConnection(code, reason)))

    def _take(self, event: Event) -> str | bytes | None:
        """Act upon an event; gives a message when it ends one."""
        if isinstance(event, TextMessage | BytesMessage):
            return self._gather(event)
        if isinstance(event, Ping):
            if self._frames.state is ConnectionState.OPEN:
                self._tunnel.write(self._frames.send(event.response()))
        elif isinstance(event, CloseConnection):
            if self._frames.state is ConnectionState.REMOTE_CLOSING:
                self._tunnel.write(self._frames.send(event.response()))
            else:
                self.close(event.code, event.reason or "")
        return None

    def _gather(self, event: TextMessage | BytesMessage) -> str | bytes | None:
        self._parts.append(event.data if isinstance(event.data, str) else bytes(event.data))
        self._size += len(event.data)
        if self._size > MESSAGE_BYTES_MAX:
            self.close(CloseReason.MESSAGE_TOO_BIG)
        if not event.message_finished or self._size > MESSAGE_BYTES_MAX:
            return None
        parts, self._parts, self._size = self._parts, [], 0
        if isinstance(event, TextMessage):
            return "".join(str(part) for part in parts)
        return b"".join(part for part in parts if not isinstance(part, str))


Serve = Callable[[WebSocket], Awaitable[None]]


def wants_websocket(request: Request) -> bool:
    """Whether the client asks for an upgrade to WebSocket."""
    headers = request.headers
    return headers.get("upgrade", "").lower() == "websocket" and "upgrade" in headers.get("connection", "").lower()


def accept(request: Request, serve: Serve, protocols: Sequence[str] | None = None) -> Response:
    """The answer to a request that wants a WebSocket: 101, or 400 when its handshake is wrong.

    `protocols`: the sub-protocols that `serve` speaks, an empty string among them if it needs none. None: whatever
    the client names first.
    """
    headers = request.headers
    if request.method != "GET":
        raise bad_request("a WebSocket is opened with GET")
    if headers.get("sec-websocket-version") != _VERSION:
        refusal = text_response(400, "missing or bad WebSocket Version\n")
        refusal.headers.append((b"Sec-WebSocket-Version", _VERSION.encode()))
        return refusal
    key = headers.get("sec-websocket-key", "")
    if not _is_key(key):
        raise bad_request("missing or bad Sec-WebSocket-Key")
    protocol = _protocol(headers.get("sec-websocket-protocol", ""), protocols)

    async def takeover(tunnel: Tunnel) -> None:
        websocket = WebSocket(tunnel, protocol)
        try:
            await serve(websocket)
        except asyncio.CancelledError:
            websocket.close(CloseReason.GOING_AWAY)
            raise
        websocket.close()

    response = Response(101, content_type="", takeover=takeover)
    response.headers += [
        (b"Upgrade", b"websocket"),
        (b"Connection", b"Upgrade"),
        (b"Sec-WebSocket-Accept", generate_accept_token(key.encode())),
    ]
    if protocol:
        response.headers.append((b"Sec-WebSocket-Protocol", protocol.encode()))
    return response


def _protocol(header: str, known: Sequence[str] | None) -> str:
    """The first sub-protocol of the client that is known. Raises `StatusError` 400 when none is."""
    named = [name.strip() for name in header.split(",")]
    for name in named:
        if known is None or name in known:
            return name
    raise bad_request(f"requested protocol(s) are not supported: {named}; supports {list(known or ())}")


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == _KEY_BYTES
    except (binascii.Error, ValueError):
        return False
