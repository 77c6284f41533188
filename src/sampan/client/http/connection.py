"""`Connection`: one HTTP/1.1 connection to a server: a request, its answer, and so on.

Concurrency: no task of its own; the callbacks of the loop feed the answer under way. A connection belongs to one
request from `begin` until `released` is called, which happens as soon as the last byte of the answer is there.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import cast

import httptools

from sampan.client.errors import TransportError
from sampan.client.http.answer import Answer
from sampan.client.http.settings import HttpSettings
from sampan.client.transport import HttpRequest

_NAMES_MAX = 1024


class Connection(asyncio.Protocol):
    """One connection. `released` is called with it when it is free again, `lost` when it has gone (both at most once a
    request)."""

    def __init__(
        self,
        settings: HttpSettings,
        names: dict[bytes, str],
        *,
        released: Callable[["Connection"], None],
        lost: Callable[["Connection"], None],
    ) -> None:
        self.settings = settings
        self.reused = False
        self.closed = False
        self.retired = False
        self.idle_since = 0.0
        self._names = names
        self._released = released
        self._lost = lost
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._answer: Answer | None = None
        self._answer_begun = False
        self._head_bytes = 0
        self._interim = False
        self._in_body = False
        self._unasked = False
        self._keep_alive = False

    # --- for the transport

    @property
    def answer_begun(self) -> bool:
        """Whether any byte of the answer has come."""
        return self._answer_begun

    @property
    def socket(self) -> socket.socket:
        """The socket, for its options."""
        sock: socket.socket = self._transport.get_extra_info("socket")
        return sock

    def begin(self, request: HttpRequest, head: bytes) -> Answer:
        """Send a request; gives its answer, of which nothing has come yet."""
        answer = self._answer = Answer(self, request, self.settings)
        self._answer_begun = self._in_body = self._interim = False
        self._head_bytes = 0
        self._transport.write(head + request.body if request.body else head)
        return answer

    def close(self) -> None:
        """Close an idle connection properly."""
        if not self.closed:
            self.closed = True
            self._transport.close()

    # --- for the answer

    def pause(self) -> None:
        self._transport.pause_reading()

    def resume(self) -> None:
        if not self.closed:
            self._transport.resume_reading()

    def cut(self) -> None:
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    # --- the loop's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._answer is None:
            # Nobody asked: the server says good-bye (a 408, say), or it has lost count. Never to be used again.
            self.cut()
            return
        self._answer_begun = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._fail("the server switches to another protocol, which was not asked for")
            return
        except httptools.HttpParserError as error:
            self._fail(f"the answer is not HTTP: {error}")
            return
        if self._unasked:
            self.cut()
        elif self._answer is not None and not self._answer.has_head:
            self._head_bytes += len(data)
            if self._head_bytes > self.settings.head_bytes_max:
                self._fail(f"the head of the answer is larger than {self.settings.head_bytes_max} bytes")

    def eof_received(self) -> None:
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        answer, self._answer = self._answer, None
        if answer is not None:
            if exc is None and self._ends_with_connection(answer):
                answer.finish()
            else:
                answer.fail(TransportError(self._why(exc, answer), sent=True))
        self._lost(self)

    # --- the parser's callbacks

    def on_message_begin(self) -> None:
        # A second answer right behind the first one: whose would it be?
        self._unasked = self._answer is None

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body or self._answer is None:
            return
        text = self._names.get(name)
        if text is None:
            text = name.decode("latin-1").lower()
            if len(self._names) < _NAMES_MAX:
                self._names[name] = text
        headers = self._answer.headers
        if text in headers:
            headers[text] = f"{headers[text]}\n{value.decode('utf-8', 'replace')}"
        else:
            headers[text] = value.decode("utf-8", "replace")

    def on_headers_complete(self) -> None:
        answer = self._answer
        if answer is None:
            return
        status = self._parser.get_status_code()
        self._interim = 100 <= status < 200
        if self._interim:
            answer.headers.clear()
            return
        self._in_body = True
        self._keep_alive = self._parser.should_keep_alive()
        answer.head_complete(status)
        if answer.method == "HEAD":
            # The parser cannot be told that no body follows, so it may not see another answer either.
            self._keep_alive = False
            self._finish(answer)

    def on_body(self, chunk: bytes) -> None:
        if self._answer is not None:
            self._answer.feed(chunk)

    def on_message_complete(self) -> None:
        if self._interim:
            self._interim = False
        elif self._answer is not None:
            self._finish(self._answer)

    # --- inside

    def _finish(self, answer: Answer) -> None:
        self._answer = None
        self.reused = True
        answer.finish()
        if not self._keep_alive:
            self.close()
        elif not self.closed:
            self._released(self)

    def _fail(self, message: str) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer.fail(TransportError(message, sent=True))
        self.cut()

    def _ends_with_connection(self, answer: Answer) -> bool:
        """Whether the body is one that ends where the connection ends."""
        headers = answer.headers
        return answer.has_head and "content-length" not in headers and "transfer-encoding" not in headers

    def _why(self, exc: Exception | None, answer: Answer) -> str:
        if isinstance(exc, ssl.SSLError):
            return f"TLS failed: {exc.reason or exc}"
        happened = f"the connection broke ({exc})" if exc is not None else "the server closed the connection"
        if not self._answer_begun:
            return f"{happened} before it answered"
        return f"{happened} in the middle of the {'body' if answer.has_head else 'head'}"
