"""`RepeatedFields`: a client's next request usually has the fields of an earlier one, so they need not be parsed again.

POST /api/v1/namespaces/a/pods HTTP/1.1     any target
Host: localhost ... Content-Length: 512     any length
"""

import re
from typing import Final

from sampan.wire.http1.events import RequestHead

KNOWN_BLOCK_BYTES_MAX: Final = 16 << 10
_VISIBLE: Final = bytes(range(0x21, 0x7F))
_FRAMING: Final = frozenset({"connection", "expect", "transfer-encoding", "upgrade"})
_METHODS: Final = {b"GET": "GET", b"POST": "POST", b"PUT": "PUT", b"PATCH": "PATCH", b"DELETE": "DELETE"}
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
        start, end = data.find(_NEW_LINE), data.find(b"\r\n\r\n") + 4
        if not (
            head.keep_alive
            and head.method in _METHODS.values()
            and data[:start].endswith(b" HTTP/1.1")
            and start < end <= start + KNOWN_BLOCK_BYTES_MAX
            and _FRAMING.isdisjoint(head.headers)
        ):
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
        start = data.find(_NEW_LINE)
        name, _, rest = data[: max(start, 0)].partition(b" ")
        method = _METHODS.get(name)
        if method is None or not rest.endswith(b" HTTP/1.1"):
            return None
        target = rest[:-9]
        if target.translate(None, _VISIBLE):
            return None
        if self._after and data.startswith(self._before, start):
            at = start + len(self._before)
            end = data.find(_NEW_LINE, at, at + _DIGITS_MAX + 2)
            digits = data[at : max(end, at)]
            if digits.isdigit() and data.startswith(self._after, end):
                body = data[end + len(self._after) :]
                if len(body) == int(digits):
                    headers = self._headers_of_body.copy()
                    headers["content-length"] = digits.decode()
                    return RequestHead(method, target, headers), body
        if self._headers and len(data) == start + len(self._block) and data.endswith(self._block):
            return RequestHead(method, target, self._headers.copy()), b""
        return None
