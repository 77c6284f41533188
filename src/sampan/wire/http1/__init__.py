"""HTTP/1.1 without I/O, for clients and servers. Readers turn bytes into events, writers turn messages into bytes.

    reader = ResponseReader(receiver)
    reader.expect("GET")
    reader.feed(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    # calls receiver.on_head(...), receiver.on_data(b"ok"), receiver.on_end(reusable=True)

The parser is imported in `parser.py` alone. Both roles refuse bytes that another reader could read differently:

- a length next to a transfer coding, two lengths, a coding other than chunked;
- a line that ends with LF or CR alone, a folded line, a space before a colon.

Source: RFC 9110, RFC 9112.
"""

from sampan.wire.http1.events import RequestHead, RequestReceiver, ResponseHead, ResponseReceiver
from sampan.wire.http1.fields import Field, Fields, NameCache, Repeated, fits, headers_of, joined, values_of
from sampan.wire.http1.limits import Limits
from sampan.wire.http1.malformed import Malformed
from sampan.wire.http1.requests import RequestReader
from sampan.wire.http1.responses import ResponseReader
from sampan.wire.http1.states import BadStep, ExchangeState, Half, Transition
from sampan.wire.http1.writers import BODILESS, CONTINUE, BodyWriter, request_head, response_head

__all__ = [
    "BODILESS",
    "CONTINUE",
    "BadStep",
    "BodyWriter",
    "ExchangeState",
    "Field",
    "Fields",
    "Half",
    "Limits",
    "Malformed",
    "NameCache",
    "Repeated",
    "RequestHead",
    "RequestReader",
    "RequestReceiver",
    "ResponseHead",
    "ResponseReader",
    "ResponseReceiver",
    "Transition",
    "fits",
    "headers_of",
    "joined",
    "request_head",
    "response_head",
    "values_of",
]
