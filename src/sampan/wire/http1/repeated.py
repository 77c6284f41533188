"""`RepeatedFields`: a client's next request usually has the fields of an earlier one, so they need not be parsed again.

POST /api/v1/namespaces/a/pods HTTP/1.1     any target
Host: localhost ... Content-Length: 512     any length
"""

import re
from typing import Final

from sampan.wire.http1.events import RequestHead

KNOWN_BLOCK_BYTES_MAX: Final = 16 << 10
_REQUEST_LINE: Final = re.compile(rb"(GET|POST|PUT|PATCH|DELETE) ([!-~]+) HTTP/1\.1(?=\r\n)")
_FRAMING: Final = frozenset({"connection", "expect", "transfer-encoding", "upgrade"})
_LENGTH: Final = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_DIGITS_MAX: Final = 8
_NEW_LINE: Final = b"\r\n"


class RepeatedFields:
    """Fields of a connection's last plain requests, as bytes and decoded: one without a body, one with a body."""

    __slots__ = ("_after", "_before", "_block", "_headers", "_headers_of_body")

    def __init__(self) -> None:
        self._block = b"\r\n"
        """Fields of the last request without a body, from the end of the request line on."""
        self._headers: dict[str, str] = {}
        self._before = b"\r\n"
        """Fields of the last request with a body, up to the value of Content-Length."""
        self._after = b""
        """Fields after that value. Empty: there was no such request."""
        self._headers_of_body: dict[str, str] = {}

    def remember(self, data: bytes, head: RequestHead) -> None:
        """Keep the fields of a request that the parser has read from `data`, if it contains this request only."""
        line, end = _REQUEST_LINE.match(data), data.find(b"\r\n\r\n") + 4
        if line is None or not head.keep_alive or not _FRAMING.isdisjoint(head.headers):
            return
        start = line.end()
        if not start < end <= start + KNOWN_BLOCK_BYTES_MAX:
            return
        length = head.headers.get("content-length")
        if length is None:
            if end == len(data):
                self._block, self._headers = data[start:], head.headers.copy()
            return
        block = data[start:end]
        found = _LENGTH.search(block)
        if found is not None and found[1].decode() == length and length.isdigit() and end + int(length) == len(data):
            self._before, self._after = block[: found.start(1)], block[found.end(1) :]
            self._headers_of_body = head.headers.copy()

    def read(self, data: bytes) -> tuple[RequestHead, bytes] | None:
        """Return the head and the body of a whole request with such fields, read without the parser.

        Return None for all other data.
        """
        line = _REQUEST_LINE.match(data)
        if line is None:
            return None
        start = line.end()
        if self._after and data.startswith(self._before, start):
            at = start + len(self._before)
            end = data.find(_NEW_LINE, at, at + _DIGITS_MAX + 2)
            digits = data[at : max(end, at)]
            if digits.isdigit() and data.startswith(self._after, end):
                body = data[end + len(self._after) :]
                if len(body) == int(digits):
                    headers = self._headers_of_body.copy()
                    headers["content-length"] = digits.decode()
                    return RequestHead(line[1].decode(), line[2], headers), body
        if self._headers and len(data) == start + len(self._block) and data.endswith(self._block):
            return RequestHead(line[1].decode(), line[2], self._headers.copy()), b""
        return None
