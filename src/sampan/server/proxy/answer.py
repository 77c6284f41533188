"""`AnswerReader`: an upstream's answer as it comes in, and where it ends.

What is refused, as it could be read in more than one way: transfer codings other than `chunked`, lengths that are no
numbers or differ, heads beyond `HEAD_BYTES_MAX`.
"""

from collections import deque

import httptools

from sampan.server.heads import BODILESS
from sampan.server.request import Headers

HEAD_BYTES_MAX = 1 << 20


class BrokenAnswer(Exception):
    """What came is no HTTP answer, or not all of it came."""


class AnswerReader:
    """Reads one answer (the interim ones before it are skipped). Sans-I/O: `feed` it, and `end` it."""

    def __init__(self, method: str) -> None:
        self.status = 0
        self.headers: Headers = []
        self.headed = False
        """Whether the head is there."""
        self.complete = False
        """Whether all of the body is."""
        self.begun = False
        """Whether anything has come."""
        self.length: int | None = None
        """What Content-Length says, for HEAD too."""
        self.rest = b""
        """What came behind the head of a 101."""
        self.keep_alive = False
        """Whether the connection may be used again; settled when complete."""
        self._method = method
        self._body: deque[bytes] = deque()
        self._until_end = False
        self._head_bytes = 0
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Take in what came. Raises `BrokenAnswer`."""
        self.begun = True
        if self.complete:
            self.keep_alive = False
            return
        if not self.headed:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self.rest = data[upgrade.args[0] :]
        except httptools.HttpParserError as error:
            if not self.complete or self.status == 101:
                raise BrokenAnswer(f"malformed HTTP response: {error.__context__ or error}") from error
            self.keep_alive = False
        if not self.headed and self._head_bytes > HEAD_BYTES_MAX:
            raise BrokenAnswer("the head of the response is too large")

    def end(self) -> None:
        """The connection has ended. Raises `BrokenAnswer` when something is missing."""
        self.keep_alive = False
        if self.headed and self._until_end:
            self.complete = True
        if not self.complete:
            raise BrokenAnswer("unexpected EOF" if self.begun else "EOF")

    def take(self) -> bytes:
        """What there is of the body."""
        data = self._body.popleft() if len(self._body) == 1 else b"".join(self._body)
        self._body.clear()
        return data

    # --- the parser's callbacks

    def on_message_begin(self) -> None:
        if self.headed:  # a second answer that nobody asked for
            self.keep_alive = False
            return
        self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.headed:  # what comes behind a body is no header
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self.headed:
            return
        status = self._parser.get_status_code()
        if 100 <= status < 200 and status != 101:
            return
        self.status = status
        self._read_framing()
        self.headed = True
        if self._method == "HEAD" or status in BODILESS:
            self.keep_alive = self._parser.should_keep_alive()
            self.complete = True

    def on_body(self, chunk: bytes) -> None:
        if not self.complete:
            self._body.append(chunk)
        else:
            self.keep_alive = False

    def on_message_complete(self) -> None:
        if self.headed and not self.complete:
            self.complete = True
            self.keep_alive = self._parser.should_keep_alive()

    def _read_framing(self) -> None:
        lengths = {value for name, value in self.headers if name.lower() == b"content-length"}
        codings = [value for name, value in self.headers if name.lower() == b"transfer-encoding"]
        if len(lengths) > 1 or (lengths and codings) or any(coding.strip().lower() != b"chunked" for coding in codings):
            raise BrokenAnswer("the length of the response is ambiguous")
        for length in lengths:
            if not length.isdigit():
                raise BrokenAnswer("the length of the response is no number")
            self.length = int(length)
        self._until_end = not lengths and not codings
