"""`Subscription`: one request of a page, from its path through all filters to its last line.

Concurrency: `run` is the task of the request. It waits for the client's credit and for the socket, so it reads no
further from a response that the page does not read. A watch that waits too long ends as that of any slow watcher.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

import orjson

from sampan.core.clock import monotonic
from sampan.core.errors import StatusError, bad_request
from sampan.core.tracebacks import forget_frames
from sampan.server.connections.owner import release
from sampan.server.dashboard.origin import BACKGROUND_HEADER
from sampan.server.dashboard.stream.messages import CREDIT_MAX, Open
from sampan.server.dashboard.stream.text_lines import TextLines
from sampan.server.request import OWN, Handler, Request, Response, WireRequest
from sampan.server.request_info import parse_target
from sampan.wire.http1 import Repeated

_log = logging.getLogger("sampan.dashboard")

FRAME_BYTES: Final = 64 << 10
"""Size from which a frame gets no further line."""
LINE_BYTES_MAX: Final = 4 << 20
"""Maximum size of a line, or of a response that is no watch."""
Send = Callable[[bytes], Awaitable[None]]
_COPIED: Final = frozenset({"host", "user-agent", "cookie", "origin"})
_CLOSED: Final = 0
"""Code of the end of a subscription that the page has closed."""


class Unsendable(Exception):
    """A response that cannot be sent on the stream. `code` is that of its end."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


async def _no_body(limit: int) -> bytes:
    return b""


class Subscription:
    """Request of one id."""

    def __init__(self, message: Open, handshake: Request, handler: Handler, send: Send) -> None:
        """`handshake` is the request that opened the socket: its session is the one of this request."""
        self._message = message
        self._handshake = handshake
        self._handler = handler
        self._send = send
        self._credit = message.credit
        self._more = asyncio.Event()
        self._head = b'{"id":%d,' % message.id

    def add_credit(self, count: int) -> None:
        """Let more lines be sent, `CREDIT_MAX` at most."""
        self._credit = min(self._credit + count, CREDIT_MAX)
        self._more.set()

    async def run(self) -> None:
        """Send the response: status, lines, end."""
        try:
            request = self._request()
        except StatusError as error:
            await self.refuse(error.code, error.message)
            return
        response: Response | None = None
        try:
            response = await self._handler(request)
            await self._send(b'%b"status":%d}' % (self._head, response.status))
            if response.takeover is not None:
                await self._end(400, "a WebSocket cannot be opened on the stream")
                return
            message = await self._send_body(request, response)
            await self._end(response.status, message)
        except Unsendable as error:
            await self._end(error.code, str(error))
        except ConnectionError as error:
            await self._end(502, str(error))
        except Exception as error:
            _log.exception("subscription ended", extra={"path": request.wire.path})
            forget_frames(error)
            await self._end(500, "the server failed; its log has the reason")
        finally:
            if response is not None:
                await release(response)
            elif request.seat is not None:
                request.seat.release()

    async def refuse(self, code: int, message: str) -> None:
        """Send the status and the end of a request that was not begun."""
        await self._send(b'%b"status":%d}' % (self._head, code))
        await self._end(code, message)

    async def close(self) -> None:
        """Send the end of a subscription that the page has closed."""
        await self._end(_CLOSED, "closed")

    def _request(self) -> Request:
        """Return the request, as if the page had sent it by itself. **Raises** `StatusError` 400."""
        message, handshake = self._message, self._handshake
        target = parse_target("GET", message.path.encode("latin-1"))
        if "proxy" in (target.info.verb, target.info.subresource):
            raise bad_request("a proxied path is not served on the stream")
        headers: dict[str, str] = {name: value for name, value in handshake.headers.items() if name in _COPIED}
        headers |= {"accept": message.accept, "x-sampan-page": "1", "sec-fetch-site": "same-origin"}
        if message.background:
            headers[BACKGROUND_HEADER] = "1"
        if message.impersonate is not None:
            headers["impersonate-user"] = message.impersonate.user
            if message.impersonate.groups:
                headers["impersonate-group"] = Repeated.of(message.impersonate.groups, ", ")
        wire = WireRequest(
            "GET",
            target.path,
            target.query_string,
            _no_body,
            target.query,
            target.raw_path,
            target.long_running,
            client_address=handshake.wire.client_address,
            received=monotonic(),
        )
        return Request(wire, headers, target.info, on_page_port=handshake.on_page_port)

    async def _send_body(self, request: Request, response: Response) -> str:
        """Send the lines of the response. Return the message of an error."""
        is_json = response.content_type.startswith("application/json")
        line_of = _json_line if is_json else _text_line
        if is_json and request.component != OWN:
            line_of = _verified_line  # another server could close our frame and begin another one
        if response.stream is None:
            document = b"".join((response.body or b"", *response.rest))
            if document:
                await self._send_lines([line_of(document)])
            return _message_of(document) if response.status >= 400 else ""
        if request.info.verb != "watch" and is_json:
            await self._send_lines([line_of(await _whole(response.stream))])
            return ""
        if not is_json:
            text = TextLines()
            async for chunk in response.stream:
                await self._send_lines(text.feed(chunk))
            await self._send_lines(text.end())
            return ""
        async for lines in _lines(response.stream):
            await self._send_lines(lines if line_of is _json_line else [line_of(line) for line in lines])
        return ""

    async def _send_lines(self, lines: Sequence[bytes]) -> None:
        """Send lines in frames, as far as the credit reaches. Wait for credit."""
        if len(lines) == 1 and self._credit:  # nearly all events
            self._credit -= 1
            await self._send(b'%b"data":[%b]}' % (self._head, lines[0]))
            return
        at = 0
        while at < len(lines):
            while not self._credit:
                self._more.clear()
                await self._more.wait()
            end, size = at, 0
            while end < len(lines) and end - at < self._credit and size < FRAME_BYTES:
                size += len(lines[end])
                end += 1
            self._credit -= end - at
            await self._send(b'%b"data":[%b]}' % (self._head, b",".join(lines[at:end])))
            at = end

    async def _end(self, code: int, message: str) -> None:
        end = orjson.dumps({"code": code, "message": message})
        await self._send(b'%b"end":%b}' % (self._head, end))


async def _lines(stream: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    """Yield the complete lines of each chunk, and the last one."""
    begun = b""
    async for chunk in stream:
        if not begun and chunk.find(b"\n") == len(chunk) - 1 > 0:  # nearly all events
            yield [chunk[:-1]]
            continue
        *lines, begun = (begun + chunk).split(b"\n")
        if len(begun) > LINE_BYTES_MAX:
            raise Unsendable(413, f"a line is longer than {LINE_BYTES_MAX} bytes")
        found = [line for line in lines if line]
        if found:
            yield found
    if begun:
        yield [begun]


async def _whole(stream: AsyncIterator[bytes]) -> bytes:
    document = bytearray()
    async for chunk in stream:
        document += chunk
        if len(document) > LINE_BYTES_MAX:
            raise Unsendable(413, f"the response is longer than {LINE_BYTES_MAX} bytes; fetch it without the stream")
    return bytes(document)


def _json_line(line: bytes) -> bytes:
    return line


def _text_line(line: bytes) -> bytes:
    return orjson.dumps(line.decode("utf-8", "replace"))


def _verified_line(line: bytes) -> bytes:
    try:
        orjson.loads(line)
    except ValueError:
        raise Unsendable(502, "the server of this API sent a line that is no JSON") from None
    return line


def _message_of(document: bytes) -> str:
    try:
        status = orjson.loads(document)
    except ValueError:
        return document[:1024].decode("utf-8", "replace")
    message = status.get("message") if isinstance(status, dict) else None
    return message if isinstance(message, str) else ""
