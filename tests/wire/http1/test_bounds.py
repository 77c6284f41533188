"""Every part of a message that a reader holds or skips has a bound."""

import pytest

from sampan.wire.http1 import Limits, Malformed, RequestReader, ResponseReader
from tests.wire.http1.received import Events

LIMITS = Limits(head_bytes_max=1000, fields_max=20, overhead_bytes_max=1000, ahead_bytes_max=1000)
CHUNKED_REQUEST = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED_RESPONSE = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

ENDLESS = {
    "request line": (b"GET /", b"a" * 100),
    "field name": (b"GET / HTTP/1.1\r\nHost: h\r\n", b"a" * 100),
    "field value": (b"GET / HTTP/1.1\r\nHost: h\r\na: ", b"a" * 100),
    "chunk extension": (CHUNKED_REQUEST + b"1;a", b"a" * 100),
    "trailer name": (CHUNKED_REQUEST + b"0\r\n", b"a" * 100),
    "trailer value": (CHUNKED_REQUEST + b"0\r\na: ", b"a" * 100),
    "trailers": (CHUNKED_REQUEST + b"0\r\n", b"a: b\r\n" * 20),
    "extensions of chunks": (CHUNKED_REQUEST, b"1;" + b"a" * 200 + b"\r\na\r\n"),
    "bytes after a request for an upgrade": (
        b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        b"a" * 100,
    ),
}
ENDLESS_RESPONSES = {
    "status line": (b"HTTP/1.1 200 ", b"a" * 100),
    "field value": (b"HTTP/1.1 200 OK\r\na: ", b"a" * 100),
    "interim responses": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 4),
    "chunk extension": (CHUNKED_RESPONSE + b"1;a", b"a" * 100),
    "trailers": (CHUNKED_RESPONSE + b"0\r\n", b"a: b\r\n" * 20),
}


def endless(reader: RequestReader | ResponseReader, begin: bytes, more: bytes) -> None:
    reader.feed(begin)
    for _ in range(30):
        reader.feed(more)


@pytest.mark.parametrize(("begin", "more"), ENDLESS.values(), ids=ENDLESS)
def test_a_request_without_end_is_refused(begin: bytes, more: bytes) -> None:
    reader = RequestReader(Events(), LIMITS)
    with pytest.raises(Malformed):
        endless(reader, begin, more)


@pytest.mark.parametrize(("begin", "more"), ENDLESS_RESPONSES.values(), ids=ENDLESS_RESPONSES)
def test_a_response_without_end_is_refused(begin: bytes, more: bytes) -> None:
    reader = ResponseReader(Events(), LIMITS)
    reader.expect("GET")
    with pytest.raises(Malformed):
        endless(reader, begin, more)


def test_a_large_head_is_431_even_if_it_arrives_at_once() -> None:
    for data in (
        b"GET / HTTP/1.1\r\nHost: h\r\na: " + b"a" * 2000,
        b"GET / HTTP/1.1\r\nHost: h\r\n" + b"a: b\r\n" * 50 + b"\r\n",
    ):
        with pytest.raises(Malformed) as refused:
            RequestReader(Events(), LIMITS).feed(data)
        assert refused.value.status == 431


def test_a_large_head_of_a_response_is_refused_even_if_it_arrives_at_once() -> None:
    reader = ResponseReader(Events(), LIMITS)
    reader.expect("GET")
    with pytest.raises(Malformed):
        reader.feed(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\na: " + b"a" * 2000 + b"\r\n\r\n")


def test_a_large_body_next_to_its_head_is_no_large_head() -> None:
    events = Events()
    RequestReader(events, LIMITS).feed(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" + b"a" * 5000)
    assert events.events[1] == b"a" * 5000


def test_a_body_of_small_chunks_is_no_overhead() -> None:
    events = Events()
    reader = RequestReader(events, LIMITS)
    reader.feed(CHUNKED_REQUEST)
    for _ in range(5000):
        reader.feed(b"1\r\na\r\n")
    reader.feed(b"0\r\n\r\n")
    assert events.events[1:] == [b"a" * 5000, ("end", True)]
