"""`WebSocket`: messages over an upgraded connection, and the handshake that begins it.

Pings are answered and a client's Close is returned while somebody is in `receive`. Masks, lengths and UTF-8 are the
wsproto library's care; what breaks the rules ends the connection, with the code that says so.
Source: streaming pkg/httpstream/wsstream, golang.org/x/net/websocket (1.36); RFC 6455.
"""

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
"""Of one message from a client; a longer one ends the connection."""
VERSION: Final = "13"
_KEY_BYTES: Final = 16


class ByteStream(Protocol):
    """A connection after its upgrade."""

    async def read(self) -> bytes:
        """What has come, at least a byte; nothing at the end. One reader at a time."""
        ...

    def write(self, data: bytes) -> None:
        """Send; nothing happens when the client has gone."""
        ...

    async def drain(self) -> None:
        """Wait until the client has read most of what was written. May raise `OSError` when it has gone."""
        ...


class WebSocket:
    """One connection. Messages are text (`str`) or binary (`bytes`)."""

    def __init__(self, tunnel: ByteStream, protocol: str = "", *, message_bytes_max: int = MESSAGE_BYTES_MAX) -> None:
        self.protocol = protocol
        """The sub-protocol that was agreed on; empty: none."""
        self._tunnel = tunnel
        self._frames = Connection(ConnectionType.SERVER)
        self._events: deque[Event] = deque()
        self._parts: list[str | bytes] = []
        self._size = 0
        self._message_bytes_max = message_bytes_max

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

    def write(self, data: str | bytes) -> None:
        """Send a message; nothing happens after a Close."""
        if self._frames.state is ConnectionState.OPEN:
            message = TextMessage(data) if isinstance(data, str) else BytesMessage(data)
            self._tunnel.write(self._frames.send(message))

    async def drain(self) -> None:
        """Wait until the client has read most of what was sent."""
        await self._tunnel.drain()

    async def send(self, data: str | bytes) -> None:
        """Send a message, and wait until the client has read most of what was sent; nothing happens after a Close."""
        if self._frames.state is ConnectionState.OPEN:
            self.write(data)
            await self.drain()

    def close(self, code: int = CloseReason.NORMAL_CLOSURE, reason: str = "") -> None:
        """Say good-bye, once."""
        if self._frames.state is ConnectionState.OPEN:
            self._tunnel.write(self._frames.send(CloseConnection(code, reason)))

    async def linger(self) -> None:
        """Having said good-bye, wait until the client has too, or has gone; what else it sends is dropped. A connection
        that is closed while the client still sends may be reset before the client has read the last messages."""
        while self._frames.state is ConnectionState.LOCAL_CLOSING:
            data = await self._tunnel.read()
            if not data:
                return
            self._frames.receive_data(data)
            for _ in self._frames.events():
                pass

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
        if self._size > self._message_bytes_max:
            self.close(CloseReason.MESSAGE_TOO_BIG)
        if not event.message_finished or self._size > self._message_bytes_max:
            return None
        parts, self._parts, self._size = self._parts, [], 0
        if isinstance(event, TextMessage):
            return "".join(str(part) for part in parts)
        return b"".join(part for part in parts if not isinstance(part, str))


class BadHandshake(ValueError):
    """The request for a WebSocket breaks the rules. The text is for the client."""


class BadVersion(BadHandshake):
    """Another version of the protocol is wanted: the answer names `VERSION`."""


class BadProtocol(BadHandshake):
    """No sub-protocol of the client's is spoken here."""


def wants_websocket(headers: Mapping[str, str]) -> bool:
    """Whether a client asks for an upgrade to WebSocket. Names of headers are in lower case."""
    return headers.get("upgrade", "").lower() == "websocket" and "upgrade" in headers.get("connection", "").lower()


def shake_hands(method: str, headers: Mapping[str, str], protocols: Sequence[str] | None) -> tuple[str, dict[str, str]]:
    """The sub-protocol that is agreed on, and the header fields of the answer 101.

    `protocols`: those that are spoken here, an empty string among them if none is needed. None: whatever the client
    names first. Raises `BadHandshake`.
    """
    if method != "GET":
        raise BadHandshake("a WebSocket is opened with GET")
    if headers.get("sec-websocket-version") != VERSION:
        raise BadVersion("missing or bad WebSocket Version")
    key = headers.get("sec-websocket-key", "")
    if not _is_key(key):
        raise BadHandshake("missing or bad Sec-WebSocket-Key")
    protocol = _agreed(headers.get("sec-websocket-protocol", ""), protocols)
    fields = {"upgrade": "websocket", "sec-websocket-accept": generate_accept_token(key.encode()).decode()}
    return protocol, {**fields, "sec-websocket-protocol": protocol} if protocol else fields


def _agreed(header: str, known: Sequence[str] | None) -> str:
    """The first sub-protocol of the client that is known."""
    named = [name.strip() for name in header.split(",")]
    for name in named:
        if known is None or name in known:
            return name
    raise BadProtocol(f"requested protocol(s) are not supported: {named}; supports {list(known or ())}")


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == _KEY_BYTES
    except (binascii.Error, ValueError):
        return False
