"""Heads of responses: status line and headers."""

from email.utils import formatdate
from http import HTTPStatus

from sampan.core.clock import monotonic, unix_time
from sampan.server.request import Headers, Response
from sampan.wire.http1 import BODILESS, Malformed
from sampan.wire.http1.writers import check_lines, status_line

_PREFIXES_MAX = 1024
_LF, _CR = b"\n\r"
"""As numbers: CPython finds a number in bytes ten times faster than bytes of length 1."""


class ResponseHeads:
    """Builds response heads and caches their repeated parts."""

    def __init__(self) -> None:
        self._prefixes: dict[tuple[int, str], bytes] = {}
        self._date = b""
        self._date_until = 0.0

    def build(self, response: Response, length: int | None, *, close: bool, http_1_0: bool = False) -> bytes:
        """Return status line, headers and the empty line.

        Without a `length` the body is chunked, or in HTTP/1.0 ends with the connection. Raises `ValueError` if a value
        would end its line.
        """
        key = (response.status, response.content_type)
        prefix = self._prefixes.get(key)
        if prefix is None:
            prefix = self._remember(key)
        if monotonic() >= self._date_until:
            self._read_clock()
        parts = [prefix]
        for name, value in response.headers:
            if _LF in value or _CR in value:
                raise ValueError(f"the header {name!r} holds a line break")
            parts += (name, b": ", value, b"\r\n")
        parts.append(self._date)
        if http_1_0:
            parts[0] = prefix.replace(b"1.1", b"1.0", 1)
            parts.append(b"" if close else b"Connection: keep-alive\r\n")
        elif close:
            parts.append(b"Connection: close\r\n")
        if length is None:
            parts.append(b"\r\n" if http_1_0 else b"Transfer-Encoding: chunked\r\n\r\n")
        elif response.status in BODILESS:
            parts.append(b"\r\n")
        else:
            parts.append(b"Content-Length: %d\r\n\r\n" % length)
        return b"".join(parts)

    def refusal(self, fault: Malformed) -> bytes:
        """Return the whole response to an unreadable request. The connection closes after it."""
        phrase = f"{fault.status} {HTTPStatus(fault.status).phrase}{fault.text}"
        response = Response(fault.status, phrase.encode(), "text/plain; charset=utf-8")
        return self.build(response, len(phrase), close=True) + response.body

    def fields(self, response: Response, length: int | None) -> Headers:
        """Return the header fields of a response in HTTP/2. `length` is None if it is not known before the end of the
        body.
        """
        if monotonic() >= self._date_until:
            self._read_clock()
        fields: Headers = [(b":status", b"%d" % response.status)]
        if response.content_type:
            fields.append((b"content-type", response.content_type.encode("latin-1")))
        fields += [(name.lower(), value) for name, value in response.headers]
        fields.append((b"date", self._date[6:-2]))
        if length is not None and response.status not in BODILESS:
            fields.append((b"content-length", b"%d" % length))
        return fields

    def _read_clock(self) -> None:
        self._date = b"Date: " + formatdate(unix_time(), usegmt=True).encode() + b"\r\n"
        self._date_until = monotonic() + 1.0

    def _remember(self, key: tuple[int, str]) -> bytes:
        status, content_type = key
        field = f"Content-Type: {content_type}\r\n" if content_type else ""
        check_lines(field, 1 if content_type else 0)
        prefix = status_line(status) + field.encode("latin-1")
        if len(self._prefixes) < _PREFIXES_MAX:
            self._prefixes[key] = prefix
        return prefix
