"""Bytes of a connection in, requests out. No I/O.

What breaks a rule ends the connection: `RequestRefused` says with which answer.
"""

from collections import deque

import httptools

from sampan.operator.http.exchange import Answer, HttpLimits, Request


class RequestRefused(Exception):
    """The request is not answered otherwise, and nothing more is read behind it."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.answer = Answer(code, f"{message}\n".encode())


class RequestParser:
    """Takes a connection apart. Requests that came together wait in `requests`: at most what one read brings."""

    def __init__(self, limits: HttpLimits, client_certificate: bytes = b"") -> None:
        self.requests: deque[tuple[Request, bool]] = deque()
        """Whole requests, each with whether the connection lives on behind it."""
        self.expects_continue = False
        """The client waits for leave to send its body."""
        self.ahead = b""
        """What was sent behind a request for another protocol, which is the last one then."""
        self._limits = limits
        self._client_certificate = client_certificate
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._body_bytes = self._body_bytes_max = self._head_bytes = self._chunk_bytes = 0
        self._in_body = False

    def feed(self, data: bytes) -> None:
        """Take more bytes in. Raises `RequestRefused`."""
        self._chunk_bytes = 0 if self._in_body else self._chunk_bytes + len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, RequestRefused):
                raise error.__context__ from None
            raise
        except httptools.HttpParserUpgrade as upgrade:
            if not self._limits.upgrades:
                raise RequestRefused(400, "no other protocol is spoken here") from None
            self.ahead = data[upgrade.args[0] :]
        except httptools.HttpParserError:
            raise RequestRefused(400, "no HTTP/1") from None
        if not self._in_body and self._chunk_bytes > self._limits.head_bytes_max:
            raise self._head_too_large()

    # --- the parser's callbacks

    def on_url(self, part: bytes) -> None:
        self._target += part
        self._count(part)

    def on_header(self, name: bytes, value: bytes) -> None:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        # One field in several lines means the same as a list in one.
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text
        self._count(name, value)

    def on_headers_complete(self) -> None:
        self._in_body = True
        path = self._target.partition(b"?")[0].decode("latin-1")
        self._body_bytes_max = self._limits.body_bytes_max(path)
        length = self._headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._body_bytes_max:
            raise self._too_large()
        self.expects_continue = self._headers.get("expect", "").lower() == "100-continue"

    def on_body(self, part: bytes) -> None:
        self._body_bytes += len(part)
        if self._body_bytes > self._body_bytes_max:
            raise self._too_large()
        self._body.append(part)

    def on_message_complete(self) -> None:
        method = self._parser.get_method().decode("latin-1")
        body, certificate = b"".join(self._body), self._client_certificate
        request = Request(method, self._target.decode("latin-1"), self._headers, body, certificate)
        alive = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        self.requests.append((request, alive))
        self.expects_continue = False
        self._target, self._headers, self._body = b"", {}, []
        self._body_bytes = self._head_bytes = self._chunk_bytes = 0
        self._in_body = False

    def _count(self, *parts: bytes) -> None:
        self._head_bytes += sum(map(len, parts))
        if self._head_bytes > self._limits.head_bytes_max:
            raise self._head_too_large()

    def _head_too_large(self) -> RequestRefused:
        return RequestRefused(431, f"the head is larger than {self._limits.head_bytes_max} bytes")

    def _too_large(self) -> RequestRefused:
        return RequestRefused(413, f"request entity is too large; limit is {self._body_bytes_max} bytes")
