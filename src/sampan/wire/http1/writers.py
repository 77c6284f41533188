"""Writers: heads and bodies as bytes. They refuse values that would split a message, so callers need no checks."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

from sampan.wire.http1.fields import Repeated

BODILESS: Final = frozenset({101, 204, 304})
"""Status codes of responses without a body."""
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
STATUS_LINES: Final = {s.value: f"HTTP/1.1 {s.value} {s.phrase}\r\n".encode() for s in HTTPStatus}
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_KNOWN_TOKENS_MAX: Final = 1024
_KNOWN_TOKEN_CHARACTERS_MAX: Final = 64
_known_tokens: set[str] = set()
"""Names and methods that have been checked: the first 1,024 short ones."""
_TARGET: Final = re.compile(r"[^\0-\x20\x7f]+")


def request_head(method: str, target: str, headers: Iterable[tuple[str, str]], *, encoding: str = "utf-8") -> bytes:
    """Return request line and fields with the empty line. A `Repeated` value has one line for each value.

    Raises `ValueError` if a part contains a line break, or if a name is not a token of RFC 9110.
    """
    if method not in _known_tokens and not _is_token(method):
        raise ValueError(f"bad method {method!r}")
    if _TARGET.fullmatch(target) is None:
        raise ValueError(f"bad target {target!r}")
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in headers:
        if name not in _known_tokens and not _is_token(name):
            raise ValueError(f"bad header name {name!r}")
        if type(value) is str or name == "cookie" or not isinstance(value, Repeated):
            lines.append(f"{name}: {value}")
        else:
            lines += [f"{name}: {single}" for single in value.values]
    lines += ("", "")
    head = "\r\n".join(lines)
    check_lines(head, len(lines) - 1)
    # Names of users and groups need not be ASCII; Go writes and reads UTF-8.
    return head.encode() if encoding == "utf-8" else head.encode(encoding, "replace")


def _is_token(text: str) -> bool:
    if _TOKEN.fullmatch(text) is None:
        return False
    if len(_known_tokens) < _KNOWN_TOKENS_MAX and len(text) < _KNOWN_TOKEN_CHARACTERS_MAX:
        _known_tokens.add(text)
    return True


def response_head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    """Return status line and fields with the empty line. Raises `ValueError` if a field contains a line break."""
    fields = [f"{name}: {value}\r\n" for name, value in headers]
    head = "".join([*fields, "\r\n"])
    check_lines(head, len(fields) + 1)
    return status_line(status) + head.encode("latin-1")


def status_line(status: int) -> bytes:
    """Return the first line of a response. An unknown status has the reason `Unknown`."""
    return STATUS_LINES.get(status) or b"HTTP/1.1 %d Unknown\r\n" % status


def check_lines(head: str, count: int) -> None:
    """Check that a head has exactly `count` lines. Raises `ValueError`."""
    if head.count("\n") != count or head.count("\r") != count or "\0" in head:
        raise ValueError("a header field holds a line break")


class BodyWriter:
    """Frames a body: in chunks, by its length, or (neither) until the connection ends."""

    __slots__ = ("_left", "chunked")

    def __init__(self, *, chunked: bool = False, length: int | None = None) -> None:
        self.chunked = chunked
        self._left = length

    @property
    def complete(self) -> bool:
        """False if the body is shorter than its length."""
        return not self._left

    def data(self, data: bytes) -> bytes:
        """Return the bytes to send for a piece of the body. Raises `ValueError` if the body exceeds its length."""
        if self.chunked:
            return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                raise ValueError("the body is longer than its length")
        return data

    def end(self) -> bytes:
        """Return the bytes that end the body."""
        return LAST_CHUNK if self.chunked else b""
