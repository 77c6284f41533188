"""Convert bytes of a connection to requests. No I/O.

Bytes that break a rule end the connection: `RequestRefused` has the response.
"""

from collections import deque

from sampan.http.server.exchange import HttpLimits, Request, Response
from sampan.wire.http1 import Limits, Malformed, RequestHead, RequestReader


class RequestRefused(Exception):
    """The request is refused with `response`, and no further bytes of the connection are read."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.response = Response(code, f"{message}\n".encode())


class RequestParser:
    """Reads requests with their bodies. Requests that arrive together wait in `requests`: at most those of one read."""

    def __init__(self, limits: HttpLimits, client_certificate: bytes = b"") -> None:
        self.requests: deque[tuple[Request, bool]] = deque()
        """Complete requests, each with True if another request can follow on the connection."""
        self.expects_continue = False
        """True if the client waits for `100 Continue` before it sends its body."""
        self._limits = limits
        self._client_certificate = client_certificate
        self._reader = RequestReader(self, Limits(head_bytes_max=limits.head_bytes_max))
        self._head: RequestHead | None = None
        self._body: list[bytes] = []
        self._body_bytes = self._body_bytes_max = 0

    def feed(self, data: bytes) -> None:
        """Read more bytes. Raises `RequestRefused`."""
        try:
            self._reader.feed(data)
        except Malformed as fault:
            if fault.too_large:
                text = f"the head is larger than {self._limits.head_bytes_max} bytes"
                raise RequestRefused(431, text) from None
            raise RequestRefused(fault.status, "no HTTP/1") from None

    def take_ahead(self) -> bytes:
        """Return the bytes sent after a request to switch protocols. No request follows it."""
        return self._reader.take_ahead()

    def close(self) -> None:
        """Release what the connection used."""
        self._reader.close()

    # --- the reader's events

    def on_head(self, head: RequestHead) -> None:
        if head.upgrade and not self._limits.upgrades:
            raise RequestRefused(400, "no other protocol is spoken here")
        self._head = head
        self._body, self._body_bytes = [], 0
        self._body_bytes_max = self._limits.body_bytes_max(head.target.partition(b"?")[0].decode("latin-1"))
        length = head.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._body_bytes_max:
            raise self._too_large()
        self.expects_continue = head.expects_continue

    def on_data(self, data: bytes) -> None:
        self._body_bytes += len(data)
        if self._body_bytes > self._body_bytes_max:
            raise self._too_large()
        self._body.append(data)

    def on_end(self) -> None:
        head = self._head
        assert head is not None
        target, body = head.target.decode("latin-1"), b"".join(self._body)
        self.requests.append(
            (Request(head.method, target, head.headers, body, self._client_certificate), head.keep_alive)
        )
        self.expects_continue = False
        self._head, self._body = None, []

    def _too_large(self) -> RequestRefused:
        return RequestRefused(413, f"request entity is too large; limit is {self._body_bytes_max} bytes")
