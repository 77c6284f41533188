"""`ResponseReader`: turns bytes of a server's connection into responses. Used by clients."""

from typing import Final, cast

from sampan.wire.http1.events import ResponseHead, ResponseReceiver
from sampan.wire.http1.fields import Fields, NameCache, headers_of, size_of
from sampan.wire.http1.limits import LIMITS, Limits
from sampan.wire.http1.malformed import Malformed
from sampan.wire.http1.parser import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser
from sampan.wire.http1.states import Half
from sampan.wire.http1.writers import BODILESS

_IDLE: Final = Half.IDLE
_HEAD: Final = Half.HEAD
_BODY: Final = Half.BODY
_SWITCHED: Final = Half.SWITCHED
_ERROR: Final = Half.ERROR
_SWITCHING_PROTOCOLS: Final = 101
_STATUS_MIN: Final = 100
_FIRST_BYTES: Final = 256


class ResponseReader:
    """Reads one response after the other, each announced by `expect`.

    `feed` raises `Malformed`, `end` raises `EOFError`. After an error, the reader cannot be used any more.
    """

    def __init__(self, receiver: ResponseReceiver, limits: Limits = LIMITS, names: NameCache | None = None) -> None:
        self.half = _IDLE
        self.begun = False
        """True if any byte of the response has arrived."""
        self._receiver = receiver
        self._limits = limits
        self._head_bytes_max = limits.head_bytes_max
        self._names = NameCache() if names is None else names
        self._parser = HttpResponseParser(self)
        self._method = ""
        self._fields: Fields = []
        self._first = b""
        """First bytes of the response, until its head is complete."""
        self._head_bytes = 0
        self._overhead_bytes = 0
        self._interim = False
        self._until_end = False
        self._complete = False
        self._reusable = False
        self._ahead = bytearray()

    def expect(self, method: str) -> None:
        """Announce the response to a request with this method. The previous response must be complete."""
        assert self.half is _IDLE
        if self._method == "HEAD":
            # The parser waits for the body that a response to HEAD does not have.
            self._parser = HttpResponseParser(self)
        self.half = _HEAD
        self._method = method
        self.begun = self._interim = False
        self._head_bytes = 0
        self._first = b""

    def take_ahead(self) -> bytes:
        """Return the bytes received after the head of a response that switched protocols (101, or 2xx to CONNECT)."""
        ahead = bytes(self._ahead)
        self._ahead.clear()
        return ahead

    def feed(self, data: bytes) -> None:
        """Read more bytes. Calls the receiver; `on_end` is its last call, when all of `data` is read."""
        half = self.half
        if half is _SWITCHED:
            self._ahead += data
            return
        if half is _IDLE:
            self.half = _ERROR
            raise Malformed("a response to no request")
        self.begun = True
        if half is _HEAD:
            self._head_bytes += len(data)
            if len(self._first) < _FIRST_BYTES:
                self._first = self._first + data if self._first else data
        else:
            self._overhead_bytes += len(data)
        self._parse(data)
        if self._complete:
            self._complete = False
            self._receiver.on_end(reusable=self._reusable)

    def end(self) -> None:
        """Handle the end of the connection: it ends a body without framing. Raises `EOFError` for an incomplete
        response.
        """
        if self.half is _BODY and self._until_end:
            self.half = _IDLE
            self._receiver.on_end(reusable=False)
        elif self.half in (_HEAD, _BODY):
            self.half = _ERROR
            raise EOFError("unexpected EOF" if self.begun else "EOF")

    def close(self) -> None:
        """Release the parser and the receiver, which refer to the reader. It cannot be used any more."""
        self._parser = cast(HttpResponseParser, None)
        self._receiver = cast(ResponseReceiver, None)

    # --- called by the parser

    def on_message_begin(self) -> None:
        if self.half is _IDLE:  # a second response
            self._reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.half is _HEAD:  # fields after a body are dropped
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        if self.half is not _HEAD:
            return
        fields, self._fields = self._fields, []
        if len(fields) > self._limits.fields_max:
            raise Malformed("too many header fields", status=431)
        limit = self._head_bytes_max
        if self._head_bytes > limit and size_of(fields) > limit:
            raise Malformed("the head of the response is too large", status=431)
        status = self._parser.get_status_code()
        if status < _STATUS_MIN:  # Go's server cannot write such a response either
            raise Malformed("malformed HTTP status code")
        if status < 200 and status != _SWITCHING_PROTOCOLS:
            self._interim = True
            return
        headers = headers_of(fields, self._names, "utf-8")
        head = ResponseHead(status, fields, headers, self._read_framing(status, headers))
        self._overhead_bytes = 0
        self._first = b""
        self._reusable = self._parser.should_keep_alive()
        if status == _SWITCHING_PROTOCOLS or (self._method == "CONNECT" and 200 <= status < 300):
            self.half = _SWITCHED
        elif self._method == "HEAD" or status in BODILESS:
            self._finish()
        else:
            self.half = _BODY
        self._receiver.on_head(head)

    def on_body(self, data: bytes) -> None:
        if self.half is _BODY:
            if self._overhead_bytes:
                self._overhead_bytes = max(0, self._overhead_bytes - 3 * len(data) - 16)
            self._receiver.on_data(data)
        elif self.half is _SWITCHED:
            self._ahead += data
        else:
            self._reusable = False

    def on_message_complete(self) -> None:
        if self._interim:
            self._interim = False
        elif self.half is _BODY:
            self._finish()

    # --- inside

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            if self.half is _SWITCHED:
                self._ahead += data[upgrade.args[0] :]
            else:
                self._reusable = False
        except HttpParserCallbackError as error:
            self.half = _ERROR
            raise (error.__context__ or error) from None
        except HttpParserError as error:
            if not self._complete:
                self._fail(f"malformed HTTP response: {error}")
            self._reusable = False
        half = self.half
        if half is _HEAD:
            if self._head_bytes > self._head_bytes_max:
                self._fail("the head of the response is too large", status=431)
        elif half is _BODY and self._overhead_bytes > self._limits.overhead_bytes_max:
            self._fail("too many bytes between the pieces of the body")

    def _finish(self) -> None:
        self.half = _IDLE
        self._complete = True

    def _fail(self, reason: str, *, status: int = 400) -> None:
        first = self._first[:_FIRST_BYTES] if self.half is _HEAD else b""
        self.half = _ERROR
        raise Malformed(reason, status=status, first=first)

    def _read_framing(self, status: int, headers: dict[str, str]) -> int | None:
        """Determine where the body ends; return its length, if given.

        Raises `Malformed` if the framing is ambiguous.
        """
        length, coding = headers.get("content-length"), headers.get("transfer-encoding")
        if coding is not None and (coding.lower() != "chunked" or length is not None):
            raise Malformed("the length of the response is ambiguous")
        if status == _SWITCHING_PROTOCOLS and "upgrade" not in headers:
            raise Malformed("malformed HTTP response: 101 without Upgrade")
        self._until_end = length is None and coding is None
        if length is None:
            return None
        if not (length.isascii() and length.isdecimal()):
            raise Malformed("the length of the response is no number")
        return int(length)
