"""`WebSocket`: messages over an upgraded connection, and the handshake that opens it.

The server responds to pings and to the client's Close only while a task runs `receive`. The wsproto library handles
masks, lengths and UTF-8 of what the client sends; a protocol violation closes the connection with the matching code.
Messages to the client are framed here, because wsproto takes several times as long for a frame.
Source: streaming pkg/httpstream/wsstream, golang.org/x/net/websocket (1.36); RFC 6455.
"""

import asyncio
import base64
import binascii
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import generate_accept_token

MESSAGE_BYTES_MAX: Final = 1 << 20
"""Size limit of one message from a client; a longer one closes the connection."""
SLICE_BYTES_MAX: Final = 2 << 10
"""Maximum number of bytes that are parsed at once. They can contain 340 frames, which take about 10 ms."""
SLICE_BYTES_MIN: Final = 128
"""Smaller maximum for a client that sends many small frames: 21 frames, which take about 0.6 ms.

The event loop may parse slices of many such clients in one turn.
"""
EVENTS_PER_TURN: Final = 16
"""Number of events in a slice above which the reader yields to other connections."""
VERSION: Final = "13"
_KEY_BYTES: Final = 16
_TEXT: Final = b"\x81"
_BINARY: Final = b"\x82"
"""First byte of a frame that is a whole message."""


class ByteStream(Protocol):
    """Connection after its upgrade."""

    async def read(self) -> bytes:
        """Return the received data, at least one byte; empty at the end. Only one reader at a time."""
        ...

    def write(self, data: bytes) -> None:
        """Send data. Does nothing when the client has disconnected."""
        ...

    async def drain(self) -> None:
        """Wait until the client has read most of the written data. May raise `OSError` when it has disconnected."""
        ...


class DrainableStream(ByteStream, Protocol):
    """Connection of a WebSocket."""

    @property
    def is_drained(self) -> bool:
        """Return True if the connection is open and `drain` need not wait."""
        ...


class WebSocket:
    """WebSocket connection of a client. Messages are text (`str`) or binary (`bytes`)."""

    def __init__(
        self, tunnel: DrainableStream, protocol: str = "", *, message_bytes_max: int = MESSAGE_BYTES_MAX
    ) -> None:
        self.protocol = protocol
        """Negotiated sub-protocol; empty if none."""
        self._tunnel = tunnel
        self._frames = Connection(ConnectionType.SERVER)
        self._events: deque[Event] = deque()
        self._unparsed = b""
        self._slice_bytes = SLICE_BYTES_MIN
        self._parts: list[str | bytes] = []
        self._size = 0
        self._message_bytes_max = message_bytes_max

    async def receive(self) -> str | bytes | None:
        """Return the next message, or None after a Close or a disconnect. Only one reader at a time."""
        while True:
            while self._events:
                message = self._take(self._events.popleft())
                if message is not None:
                    return message
            if self._frames.state is not ConnectionState.OPEN:
                return None
            # Answers to pings are written without waiting. Waiting here keeps a client that never reads from filling
            # the buffer with them.
            await self._tunnel.drain()
            if not await self._parse():
                return None

    def write(self, data: str | bytes) -> None:
        """Send a message. Does nothing after a Close."""
        if self._frames.state is ConnectionState.OPEN:
            self._tunnel.write(_frame(_TEXT, data.encode()) if isinstance(data, str) else _frame(_BINARY, data))

    async def drain(self) -> None:
        """Wait until the client has read most of the sent data."""
        await self._tunnel.drain()

    async def send(self, data: str | bytes) -> None:
        """Send a message, and wait until the client has read most of the sent data. Does nothing after a Close."""
        if self._frames.state is ConnectionState.OPEN:
            self.write(data)
            await self.drain()

    def write_text(self, data: bytes) -> bool:
        """Send a text, which is UTF-8 already, unless this would wait: then return False."""
        if not self._tunnel.is_drained:
            return False
        if self._frames.state is ConnectionState.OPEN:
            self._tunnel.write(_frame(_TEXT, data))
        return True

    async def send_text(self, data: bytes) -> None:
        """Send a text, which is UTF-8 already, as `send` does."""
        if self._frames.state is ConnectionState.OPEN:
            self._tunnel.write(_frame(_TEXT, data))
            await self.drain()

    def close(self, code: int = CloseReason.NORMAL_CLOSURE, reason: str = "") -> None:
        """Send a Close, once."""
        if self._frames.state is ConnectionState.OPEN:
            self._tunnel.write(self._frames.send(CloseConnection(code, reason)))

    async def wait_closed(self) -> None:
        """Wait, after a Close was sent, until the client sends its Close or disconnects. Drop all other messages.

        If the server closed the connection while the client is still sending, TCP could reset it before the client has
        read the last messages.
        """
        while self._frames.state is ConnectionState.LOCAL_CLOSING:
            if not await self._parse():
                return
            self._events.clear()

    async def _parse(self) -> bool:
        """Parse the next received bytes into events. Return False when the client has disconnected."""
        data = self._unparsed or await self._tunnel.read()
        if not data:
            return False
        self._unparsed = data[self._slice_bytes :]
        self._frames.receive_data(data[: self._slice_bytes])
        before = len(self._events)
        self._events.extend(self._frames.events())
        if len(self._events) - before > EVENTS_PER_TURN:
            self._slice_bytes = SLICE_BYTES_MIN
            await asyncio.sleep(0)
        else:
            self._slice_bytes = min(2 * self._slice_bytes, SLICE_BYTES_MAX)
        return True

    def _take(self, event: Event) -> str | bytes | None:
        """Handle an event; return a message if the event completes one."""
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
        if self._size > self._message_bytes_max:
            self.close(CloseReason.MESSAGE_TOO_BIG)
        if not event.message_finished or self._size > self._message_bytes_max:
            return None
        parts, self._parts, self._size = self._parts, [], 0
        if isinstance(event, TextMessage):
            return "".join(str(part) for part in parts)
        return b"".join(part for part in parts if not isinstance(part, str))


def _frame(kind: bytes, content: bytes) -> bytes:
    """Return an unmasked frame. Source: RFC 6455, 5.2."""
    length = len(content)
    if length < 126:
        return b"%b%c%b" % (kind, length, content)
    if length < 1 << 16:
        return b"%b\x7e%b%b" % (kind, length.to_bytes(2), content)
    return b"%b\x7f%b%b" % (kind, length.to_bytes(8), content)


class BadHandshake(ValueError):
    """The request for a WebSocket is invalid. The message is for the client."""


class BadVersion(BadHandshake):
    """The client requests another version of the protocol. The response names `VERSION`."""


class BadProtocol(BadHandshake):
    """The server supports none of the client's sub-protocols."""


def wants_websocket(headers: Mapping[str, str]) -> bool:
    """Report whether a client requests an upgrade to WebSocket. Header names are in lower case."""
    return headers.get("upgrade", "").lower() == "websocket" and "upgrade" in headers.get("connection", "").lower()


def accept_upgrade(
    method: str, headers: Mapping[str, str], protocols: Sequence[str] | None
) -> tuple[str, dict[str, str]]:
    """Validate an upgrade request; return the selected sub-protocol and the header fields of the 101 response.

    `protocols` are the supported ones, with an empty string if none is required; None selects the first one that the
    client names. Raises `BadHandshake`.
    """
    if method != "GET":
        raise BadHandshake("a WebSocket is opened with GET")
    if headers.get("sec-websocket-version") != VERSION:
        raise BadVersion("missing or bad WebSocket Version")
    key = headers.get("sec-websocket-key", "")
    if not _is_key(key):
        raise BadHandshake("missing or bad Sec-WebSocket-Key")
    protocol = _select_protocol(headers.get("sec-websocket-protocol", ""), protocols)
    fields = {"upgrade": "websocket", "sec-websocket-accept": generate_accept_token(key.encode()).decode()}
    return protocol, {**fields, "sec-websocket-protocol": protocol} if protocol else fields


def _select_protocol(header: str, supported: Sequence[str] | None) -> str:
    """Return the client's first sub-protocol that is supported."""
    named = [name.strip() for name in header.split(",")]
    for name in named:
        if supported is None or name in supported:
            return name
    raise BadProtocol(f"requested protocol(s) are not supported: {named}; supports {list(supported or ())}")


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == _KEY_BYTES
    except (binascii.Error, ValueError):
        return False
