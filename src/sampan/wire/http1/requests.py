"""`RequestReader`: turns bytes of a client's connection into requests. Used by servers."""

import re
from typing import Final, cast

from sampan.wire.http1.events import RequestHead, RequestReceiver
from sampan.wire.http1.fields import Fields, NameCache, headers_of, size_of
from sampan.wire.http1.limits import LIMITS, Limits
from sampan.wire.http1.malformed import Malformed
from sampan.wire.http1.parser import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserInvalidMethodError,
    HttpParserUpgrade,
    HttpRequestParser,
    is_known_method,
)
from sampan.wire.http1.repeated import RepeatedFields
from sampan.wire.http1.states import Half

_IDLE: Final = Half.IDLE
_HEAD: Final = Half.HEAD
_BODY: Final = Half.BODY
_SWITCHED: Final = Half.SWITCHED
_ERROR: Final = Half.ERROR
METHOD_BYTES_MAX: Final = 32
"""Size limit of a buffered partial method. A longer unknown method must arrive in one piece."""
_HOST: Final = re.compile(r"[!$%&'()*+,\-.:;=\[\]_~0-9A-Za-z]*")
_LETTERS: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_TOKEN: Final = re.compile(_LETTERS + rb"(?= )")
_BEGINNING: Final = re.compile(_LETTERS)
_STAND_IN: Final = b"POST"
"""Method that replaces an unknown method for the parser. A request of either has a body if the fields frame one."""


class RequestReader:
    """Reads requests one after the other; a client may send them without waiting for responses.

    `feed` raises `Malformed`, and what the receiver raises. After an error, the reader cannot be used any more.
    """

    def __init__(self, receiver: RequestReceiver, limits: Limits = LIMITS, names: NameCache | None = None) -> None:
        self.half = _IDLE
        self._receiver = receiver
        self._limits = limits
        self._names = NameCache() if names is None else names
        self._parser = HttpRequestParser(self)
        self._repeated = RepeatedFields()
        self._target = b""
        self._fields: Fields = []
        self._last: RequestHead | None = None
        self._head_bytes = self._fed_bytes = 0
        self._overhead_bytes = 0
        self._unknown_method = ""
        self._partial = b""
        """First bytes of a method that is not complete yet."""
        self._received: bytes | bytearray = b""
        """Bytes with the next request line: the piece in which it begins, and those until its end."""
        self._line_from = 0
        """Place in `_received` from which the request line follows."""
        self._is_first = True
        """True if the request line is exactly at `_line_from`. If not, the end of a request is before it."""
        self._ahead = bytearray()

    @property
    def in_head(self) -> bool:
        """True while a head has begun to arrive and is not complete."""
        return self.half is _HEAD or self._partial != b""

    def take_ahead(self) -> bytes:
        """Return the bytes received after the head of a request for an upgrade, and remove them."""
        ahead = bytes(self._ahead)
        self._ahead.clear()
        return ahead

    def feed(self, data: bytes) -> None:
        """Read more bytes. Calls the receiver."""
        half = self.half
        if half is _SWITCHED:
            self._keep_ahead(data)
            return
        if half is _IDLE:
            if self._partial:
                data, self._partial = self._partial + data, b""
            elif len(data) <= self._limits.head_bytes_max and (request := self._repeated.read(data)) is not None:
                head, body = request
                receiver = self._receiver
                receiver.on_head(head)
                if body:
                    receiver.on_data(body)
                receiver.on_end()
                return
            if len(data) < METHOD_BYTES_MAX and _BEGINNING.fullmatch(data) is not None:
                self._partial = data
                return
        elif half is _HEAD:
            self._count_head(len(data))
        else:
            self._overhead_bytes += len(data)
        self._parse(data, fresh=half is _IDLE)

    def close(self) -> None:
        """Release the parser and the receiver, which refer to the reader. It cannot be used any more."""
        self._parser = cast(HttpRequestParser, None)
        self._receiver = cast(RequestReceiver, None)

    # --- called by the parser

    def on_message_begin(self) -> None:
        self.half = _HEAD
        self._head_bytes = 0
        self._target = b""

    def on_url(self, url: bytes) -> None:
        self._target = self._target + url if self._target else url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.half is _HEAD:  # fields after a body are dropped
            if not self._fields:
                self._check_line()
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        fields, self._fields = self._fields, []
        limits = self._limits
        if len(fields) > limits.fields_max:
            raise Malformed("too many header fields", status=431)
        limit = limits.head_bytes_max
        if self._fed_bytes > limit and size_of(fields) + len(self._target) > limit:
            raise Malformed("the head is too large", status=431)
        parser = self._parser
        version = parser.get_http_version()
        if not fields:
            self._check_line()
        try:
            headers = headers_of(fields, self._names, "latin-1")
        except ValueError as error:
            raise Malformed(str(error)) from None
        _check(headers, version)
        self.half = _BODY
        self._overhead_bytes = 0
        upgrade = parser.should_upgrade()
        self._last = RequestHead(
            self._unknown_method or parser.get_method().decode("ascii"),
            self._target,
            headers,
            parser.should_keep_alive() and not upgrade,
            version == "1.0",
            version != "1.0" and "expect" in headers and headers["expect"].lower() == "100-continue",
            upgrade,
        )
        self._unknown_method = ""
        self._receiver.on_head(self._last)

    def on_body(self, data: bytes) -> None:
        if self._overhead_bytes:
            self._overhead_bytes = max(0, self._overhead_bytes - 3 * len(data) - 16)
        self._receiver.on_data(data)

    def on_message_complete(self) -> None:
        self.half = _IDLE
        self._receiver.on_end()

    # --- inside

    def _parse(self, data: bytes, *, fresh: bool) -> None:
        self._fed_bytes = len(data)
        is_unknown = False
        self._keep_line(data, fresh=fresh)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            self.half = _SWITCHED
            self._keep_ahead(data[upgrade.args[0] :])
            return
        except HttpParserCallbackError as error:
            self.half = _ERROR
            raise (error.__context__ or error) from None
        except HttpParserError as error:
            is_unknown = fresh and isinstance(error, HttpParserInvalidMethodError)
            if not is_unknown:
                self.half = _ERROR
                raise Malformed(str(error)) from None
        if is_unknown:  # not in the handler: it would be the `__context__` of an error of the receiver
            self._parse_unknown_method(data)
            return
        if self.half is _HEAD:
            if not self._head_bytes:
                self._count_head(len(data))
            return
        self._received = b""
        if self.half is _BODY:
            if self._overhead_bytes > self._limits.overhead_bytes_max:
                self.half = _ERROR
                raise Malformed("too many bytes between the pieces of the body")
        elif fresh and self._last is not None:
            self._repeated.remember(data, self._last)

    def _parse_unknown_method(self, data: bytes) -> None:
        """Parse a head again whose method the parser refused, with `_STAND_IN` as the method."""
        found = _TOKEN.match(data)
        if found is None or self._unknown_method or is_known_method(found[0]):
            self.half = _ERROR
            raise Malformed("not a method")
        self._unknown_method = found[0].decode("ascii")
        self.half = _IDLE
        self._parser = HttpRequestParser(self)
        self._parse(_STAND_IN + data[found.end() :], fresh=True)

    def _check_line(self) -> None:
        """Check that the request line is `METHOD TARGET HTTP/VERSION` with one space between its parts.

        The parser also accepts several spaces, empty lines before it, other protocols and no version at all. Go's
        server refuses them, and a proxy in front may read them as another request.
        """
        parser = self._parser
        line = b"%b %b HTTP/%b\r\n" % (parser.get_method(), self._target, parser.get_http_version().encode())
        received, at = self._received, self._line_from
        if not self._is_first:
            at = received.find(line, at)
        if at < 0 or not received.startswith(line, at):
            raise Malformed("malformed request line")
        self._line_from, self._is_first = at + len(line), False

    def _keep_line(self, data: bytes, *, fresh: bool) -> None:
        """Keep the bytes that `_check_line` needs, until the fields begin. Raises `Malformed` for an empty line."""
        if fresh and data[:1] in (b"\r", b"\n"):
            self.half = _ERROR
            raise Malformed("empty request line")
        if self.half is not _HEAD or self._fields:
            self._received, self._line_from, self._is_first = data, 0, fresh
        else:
            if not isinstance(self._received, bytearray):  # pieces may be as small as a byte
                self._received = bytearray(self._received)
            self._received += data

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self._limits.head_bytes_max:
            self.half = _ERROR
            raise Malformed("the head is too large", status=431)

    def _keep_ahead(self, data: bytes) -> None:
        self._ahead += data
        if len(self._ahead) > self._limits.ahead_bytes_max:
            self.half = _ERROR
            raise Malformed("too many bytes after a request for an upgrade")


def _check(headers: dict[str, str], version: str) -> None:
    """Check the version, Host and Transfer-Encoding as Go's server does. Raises `Malformed`."""
    if version != "1.1" and not version.startswith("1."):
        raise Malformed("unsupported version", status=505, text=": unsupported protocol version")
    if "expect" in headers and "100-continue" not in headers["expect"].lower():
        raise Malformed("unknown expectation", status=417)
    host = headers.get("host")
    if host is None:
        if version == "1.1":
            raise Malformed("no Host", text=": missing required Host header")
    elif _HOST.fullmatch(host) is None:
        raise Malformed("malformed Host", text=": malformed Host header")
    coding = headers.get("transfer-encoding")
    if coding is not None and coding.lower() != "chunked":
        raise Malformed("unsupported transfer coding", status=501, text=": Unsupported transfer encoding")
