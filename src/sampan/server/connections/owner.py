"""Interface between the server and its connections, for HTTP/1.1 and HTTP/2."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from sampan.core.errors import StatusError
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.event_loop.turns import LoopTurns
from sampan.server.connections.response_heads import ResponseHeads
from sampan.server.connections.settings import HttpSettings
from sampan.server.connections.unread import UnreadBytes
from sampan.server.incoming import Incoming
from sampan.server.request import Handler, Request, Response, WireRequest
from sampan.server.request_info import RequestTarget, TargetCache
from sampan.server.status import unreadable
from sampan.server.tls.serving import client_chain
from sampan.wire.http1 import NameCache

HEADER_BYTES_MAX = 1 << 20
"""Maximum size of a request line and its headers; more is refused with 431."""
BODY_AHEAD_BYTES = 256 << 10
"""Bytes of a body that are buffered before a handler reads it."""
BODY_DISCARD_BYTES_MAX = 4 << 20
"""Bytes of an unread body that are discarded after an early response, before the connection is closed."""


class ServedConnection(Protocol):
    """Connection of a client, as the server sees it."""

    write_paused_at: float
    """Monotonic time since which the client has not read its response; 0 if it reads."""

    @property
    def active(self) -> float:
        """Monotonic time of the last received data."""

    @property
    def head_began(self) -> float:
        """Monotonic time since which the server has waited for a complete request head; 0 if it does not wait.

        For the first request, the wait begins with the connection; for a later one, with the first byte of the head.
        """

    @property
    def streaming(self) -> bool:
        """True while a response without an end is sent, such as a watch."""

    @property
    def idle(self) -> bool:
        """True if no request is in progress."""

    @property
    def quiet_s(self) -> float:
        """Idle time in seconds after which closing the connection loses no request."""

    @property
    def is_abandoned(self) -> bool:
        """True if the client of a stream has disconnected, but the connection has paused reading and cannot notice."""

    def end(self) -> None:
        """Accept no further request. Close at once if idle, else after the response. Streams end properly.

        A connection that has received a part of a request is not idle.
        """

    def end_streams(self) -> None:
        """End the responses that have no end, such as watches. In HTTP/1.1 the connection ends with them."""

    def abort(self) -> None:
        """Close the connection immediately, without the rest of its responses."""


class ConnectionOwner(Protocol):
    """Server, as its connections see it."""

    handler: Handler
    loop: asyncio.AbstractEventLoop
    settings: HttpSettings
    heads: ResponseHeads
    targets: TargetCache
    header_names: NameCache
    frame_turns: LoopTurns
    parse_turns: LoopTurns
    unread: UnreadBytes
    """Responses that wait because their clients do not read."""
    tasks: TaskScope
    """Tasks of the requests."""
    shutting_down: bool
    """True if clients must reconnect to another server. In HTTP/1.1 the next response of each connection closes it."""

    def connected(self, connection: ServedConnection) -> None: ...

    def disconnected(self, connection: ServedConnection) -> None: ...


@dataclass(slots=True, eq=False)
class Peer:
    """Client at the other end of a connection."""

    address: str = ""
    certificate: bytes | None = None
    """Certificate in DER; see `WireRequest.client_certificate`."""
    intermediates: tuple[bytes, ...] = ()


def peer_of(transport: asyncio.BaseTransport) -> Peer:
    """Return the client of a transport whose handshake is complete."""
    name = transport.get_extra_info("peername")
    peer = Peer(name[0] if isinstance(name, tuple) else "")
    ssl_object = transport.get_extra_info("ssl_object")
    chain = client_chain(ssl_object) if ssl_object is not None else ()
    if chain:
        peer.certificate, peer.intermediates = chain[0], chain[1:]
    return peer


def make_request(incoming: Incoming, target: RequestTarget, peer: Peer, *, received: float) -> Request:
    """Build the request for the filters. `received` is a monotonic time."""
    wire = WireRequest(
        incoming.method,
        target.path,
        target.query_string,
        incoming.read_body,
        target.query,
        target.raw_path,
        target.long_running,
        incoming.stream_body,
        incoming.disconnected,
        peer.certificate,
        peer.intermediates,
        peer.address,
        received,
    )
    return Request(wire, incoming.headers, target.info)


def read_request(
    owner: ConnectionOwner, incoming: Incoming, peer: Peer, *, received: float
) -> tuple[Request | None, Response | None]:
    """Return the request for the handler. If its target cannot be parsed, return the error response instead."""
    try:
        target = owner.targets.get(incoming.method, incoming.raw_target)
    except StatusError as error:
        return None, unreadable(error, incoming.raw_target)
    return make_request(incoming, target, peer, received=received), None


def clear_cancellation() -> None:
    """Let the current task continue after its stream was cancelled by a disconnect or a shutdown."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def release(response: Response) -> None:
    """Close the stream of a response, and call its `finished` callback.

    The response then refers to neither, because they may refer to it: only the collector would free such a cycle.
    """
    stream, response.stream = response.stream, None
    finished, response.finished = response.finished, None
    aclose: Callable[[], Awaitable[None]] | None = getattr(stream, "aclose", None)
    if aclose is not None:
        await aclose()
    if finished is not None:
        finished()
