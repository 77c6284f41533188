"""`StreamEndpoint`: the WebSocket of a page, and the subscriptions on it.

Each subscription is a request like any other: authentication of the session, flow control, authorization, audit and
metrics apply to it by itself. Only GET is possible.

Concurrency: one task reads the page's messages; each subscription has a task. One frame is written at a time, and the
next one waits until the client has read most of what was sent.

Bounds: `SOCKETS_MAX` sockets of a session, and `SUBSCRIPTIONS_MAX` subscriptions of a socket. A message has at most
`MESSAGE_BYTES_MAX` bytes. At most `WAITING_BYTES_MAX` bytes of frames wait because the page does not read. A page loses
the socket if it breaks the protocol, exceeds the last bound, or does not read for the server's write timeout.
"""

import asyncio
import logging
from typing import Final

from wsproto.frame_protocol import CloseReason

from sampan.core.errors import forbidden, too_many_requests, unauthorized
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.gvk import GroupResource
from sampan.server.dashboard.authenticator import CredentialVerifier
from sampan.server.dashboard.ending import end_with
from sampan.server.dashboard.origin import HTTPS, is_own_socket
from sampan.server.dashboard.sessions import Session
from sampan.server.dashboard.stream.messages import BadMessage, Close, Message, Open, parse_message
from sampan.server.dashboard.stream.subscription import Subscription
from sampan.server.request import Handler, Request, Response
from sampan.server.websocket import accept
from sampan.wire.websocket import WebSocket

_log = logging.getLogger("sampan.dashboard")

PATH: Final = "/dashboard/stream"
SOCKETS_MAX: Final = 16
SUBSCRIPTIONS_MAX: Final = 100
MESSAGE_BYTES_MAX: Final = 32 << 10
WAITING_BYTES_MAX: Final = 8 << 20
_MESSAGES_PER_TURN: Final = 16
_STREAM: Final = GroupResource("", "dashboard/stream")
_DASHBOARD: Final = "/dashboard"


class StreamEndpoint:
    """Handler of the path."""

    def __init__(self, verifier: CredentialVerifier, handler: Handler, scheme: str = HTTPS) -> None:
        """`handler` is that of the whole server: subscriptions pass all its filters. `scheme` is that of the page."""
        self._scheme = scheme
        self._verifier = verifier
        self._handler = handler
        self._open: dict[str, int] = {}
        """Number of sockets by the public id of their session."""

    async def handle(self, request: Request) -> Response:
        """Return the response to a handshake. Raises `StatusError`: 401, 403 for another origin, 429."""
        if not is_own_socket(request, self._scheme):
            raise forbidden(_STREAM, "", "only a WebSocket of the dashboard's page may be opened here")
        session = request.session
        if not isinstance(session, Session) or session.ended:
            raise unauthorized()
        await self._verifier.verify(request, session.credentials)
        key = session.public_id
        if self._open.get(key, 0) >= SOCKETS_MAX:
            raise too_many_requests(f"the session has {SOCKETS_MAX} streams; close a tab", 10)

        async def serve(websocket: WebSocket) -> None:
            await Multiplex(websocket, request, self._handler).run()

        response = accept(request, serve, message_bytes_max=MESSAGE_BYTES_MAX)
        if response.takeover is not None:
            self._open[key] = self._open.get(key, 0) + 1
            response.at_end(lambda: self._forget(key))
            end_with(session, response)
        return response

    def _forget(self, key: str) -> None:
        left = self._open.pop(key) - 1
        if left:
            self._open[key] = left


class Multiplex:
    """Subscriptions of one socket."""

    def __init__(self, websocket: WebSocket, handshake: Request, handler: Handler) -> None:
        self._websocket = websocket
        self._handshake = handshake
        self._handler = handler
        self._writing = asyncio.Lock()
        self._waiting_bytes = 0
        self._running: dict[int, tuple[Subscription, asyncio.Task[None]]] = {}
        self._closed: set[int] = set()
        """Subscriptions that the page has closed, and whose end was not sent yet."""
        self._task: asyncio.Task[object] | None = None

    async def run(self) -> None:
        """Serve until the page closes the socket or breaks the protocol."""
        self._task = asyncio.current_task()
        async with TaskScope() as tasks:
            number = 0
            while (text := await self._websocket.receive()) is not None:
                try:
                    await self._obey(parse_message(text), tasks)
                except BadMessage as error:
                    self._websocket.close(CloseReason.POLICY_VIOLATION, str(error)[:100])
                    return
                number += 1
                if number % _MESSAGES_PER_TURN == 0:
                    await asyncio.sleep(0)

    async def _obey(self, message: Message, tasks: TaskScope) -> None:
        if isinstance(message, Open):
            await self._begin(message, tasks)
            return
        running = self._running.get(message.id)
        if running is None:
            return  # it has ended, and its end is on the way to the page
        subscription, task = running
        if isinstance(message, Close):
            self._closed.add(message.id)
            task.cancel()
        else:
            subscription.add_credit(message.add)

    async def _begin(self, message: Open, tasks: TaskScope) -> None:
        if message.id in self._running:
            raise BadMessage(f"id {message.id} is in use")
        subscription = Subscription(message, self._handshake, self._handler, self._send)
        if len(self._running) >= SUBSCRIPTIONS_MAX:
            await subscription.refuse(429, f"the stream has {SUBSCRIPTIONS_MAX} subscriptions")
        elif message.path.startswith(_DASHBOARD):
            await subscription.refuse(404, "the dashboard has no resources")
        else:
            task = tasks.begin(self._serve(message.id, subscription), f"subscription {message.id}")
            self._running[message.id] = subscription, task

    async def _serve(self, number: int, subscription: Subscription) -> None:
        """Run a subscription until its end. Then its id may be used again."""
        try:
            await subscription.run()
        except asyncio.CancelledError:
            if number in self._closed:
                await subscription.close()
            raise
        finally:
            self._closed.discard(number)
            del self._running[number]

    async def _send(self, frame: bytes) -> None:
        if not self._writing.locked() and self._websocket.write_text(frame):
            return
        self._waiting_bytes += len(frame)
        try:
            if self._waiting_bytes > WAITING_BYTES_MAX and self._writing.locked() and self._task is not None:
                _log.info("stream closed: the page does not read", extra={"bytes": self._waiting_bytes})
                self._task.cancel()
            async with self._writing:
                await self._websocket.send_text(frame)
        finally:
            self._waiting_bytes -= len(frame)
