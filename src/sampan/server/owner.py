"""What connections need of their server, and what they have in common whatever they speak."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from sampan.core.errors import StatusError
from sampan.server.heads import Heads
from sampan.server.http2.frame_turns import FrameTurns
from sampan.server.incoming import Incoming
from sampan.server.request import Handler, Request, Response
from sampan.server.request_info import Target, TargetCache
from sampan.server.settings import HttpSettings
from sampan.server.status import unreadable
from sampan.server.tls import client_chain
from sampan.wire.http1 import NameCache

HEADER_BYTES_MAX = 1 << 20
"""Request line and headers of one request; beyond that 431."""
BODY_AHEAD_BYTES = 256 << 10
"""How much of a body is taken in before anything reads it."""
BODY_DISCARD_BYTES_MAX = 4 << 20
"""How much unread body is swallowed after an early answer before the connection is closed."""


class Served(Protocol):
    """A client's connection, as the server sees it."""

    active: float
    """Monotonic time at which something of the client's came last."""
    head_began: float
    """Monotonic time at which the head of a request began to be due: the first one's when the client came, others' when
    they began to arrive; 0: none is.
    """
    write_paused_at: float
    """Monotonic time since which the client has not read what was sent to it; 0: it reads."""

    @property
    def streaming(self) -> bool:
        """Whether an answer is being sent that has no end of its own."""

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""

    @property
    def rest_s(self) -> float:
        """How long it has to be idle until its end costs no request."""

    def end(self) -> None:
        """Take no further request: close at once when idle, else after the answer. A stream is ended properly.

        Idle is not who has begun to send a request.
        """

    def end_streams(self) -> None:
        """End the answers that have no end of their own; HTTP/1.1 ends its connection with them."""

    def abort(self) -> None:
        """Cut the connection."""


class ConnectionOwner(Protocol):
    """What a connection needs of its server."""

    handler: Handler
    loop: asyncio.AbstractEventLoop
    settings: HttpSettings
    heads: Heads
    targets: TargetCache
    header_names: NameCache
    frame_turns: FrameTurns
    leaving: bool
    """Whether clients are to turn elsewhere: each is told with its next answer, where HTTP/1.1 has no other way."""

    def connected(self, connection: Served) -> None: ...

    def disconnected(self, connection: Served) -> None: ...


@dataclass(slots=True, eq=False)
class Peer:
    """Who is at the other end of a connection."""

    address: str = ""
    certificate: bytes | None = None
    """DER; see `Request.client_certificate`."""
    intermediates: tuple[bytes, ...] = ()


def peer_of(transport: asyncio.BaseTransport) -> Peer:
    """Who is at the other end of a transport whose handshake is over."""
    name = transport.get_extra_info("peername")
    peer = Peer(name[0] if isinstance(name, tuple) else "")
    ssl_object = transport.get_extra_info("ssl_object")
    chain = client_chain(ssl_object) if ssl_object is not None else ()
    if chain:
        peer.certificate, peer.intermediates = chain[0], chain[1:]
    return peer


def make_request(incoming: Incoming, target: Target, peer: Peer, *, received: float) -> Request:
    """What the filters get to see. `received`: monotonic time."""
    path, query_string, query, info, long_running, raw_path = target
    return Request(
        incoming.method,
        path,
        query_string,
        incoming.headers,
        incoming.read_body,
        query,
        info,
        client_certificate=peer.certificate,
        client_intermediates=peer.intermediates,
        client_address=peer.address,
        disconnected=incoming.disconnected,
        raw_path=raw_path,
        stream_body=incoming.stream_body,
        received=received,
        long_running=long_running,
    )


async def ask(owner: ConnectionOwner, incoming: Incoming, peer: Peer, *, received: float) -> Response:
    """What the server's filters answer; a target that means nothing does not get to them."""
    try:
        target = owner.targets.get(incoming.method, incoming.raw_target)
    except StatusError as error:
        return unreadable(error, incoming.raw_target)
    return await owner.handler(make_request(incoming, target, peer, received=received))


def forget_cancellation() -> None:
    """For a stream whose task was cancelled as its client has gone or the server ends: the task goes on."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def release(response: Response) -> None:
    """Let go of what an answer holds; its stream ends here if it has not ended by itself."""
    aclose: Callable[[], Awaitable[None]] | None = getattr(response.stream, "aclose", None)
    if aclose is not None:
        await aclose()
    if response.finished is not None:
        response.finished()
