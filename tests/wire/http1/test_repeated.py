"""Requests that repeat the fields of an earlier one are read without the parser, with the same result."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.wire.http1 import Limits, Malformed, RequestHead, RequestReader
from sampan.wire.http1.repeated import RepeatedFields
from sampan.wire.http1.states import Half
from tests.wire.http1.received import Events, requests

FIELDS = b"Host: h\r\nAccept: */*\r\n"
METHODS = st.sampled_from([b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"FOO", b"get"])
TARGETS = st.sampled_from([b"/", b"/a?b=c", b"/\x80", b"/a b", b"", b"*"])
VERSIONS = st.sampled_from([b" HTTP/1.1", b" HTTP/1.0", b" HTTP/1.2", b""])
LENGTHS = st.sampled_from(
    [
        b"Content-Length: %d\r\n",
        b"content-length: %d\r\n",
        b"Content-Length:  %d\r\n",
        b"Content-Length: 0%d\r\n",
        b"Content-Length: +%d\r\n",
        b"Content-Length: %d0\r\n",
        b"Content-Length: %d\r\nContent-Length: %d\r\n",
        b"X: y\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close\r\nContent-Length: %d\r\n",
        b"Expect: 100-continue\r\nContent-Length: %d\r\n",
        b"Content-Length: %d\r\nZ: content-length: 3\r\n",
        b"",
    ]
)
BODIES = st.sampled_from([b"", b"{}", b"0\r\n\r\n", b"x" * 12, b"GET / HTTP/1.1\r\n" + FIELDS + b"\r\n"])


def _request(method: bytes, target: bytes, version: bytes, length: bytes, body: bytes) -> bytes:
    length = length.replace(b"%d", b"%d" % len(body))
    return method + b" " + target + version + b"\r\nHost: h\r\n" + length + b"Accept: */*\r\n\r\n" + body


REQUESTS = st.builds(_request, METHODS, TARGETS, VERSIONS, LENGTHS, BODIES)


def _read(reader: RequestReader, events: Events, data: bytes) -> Any:
    events.events.clear()
    try:
        reader.feed(data)
    except Malformed as error:
        return type(error), error.status
    return list(events.events), reader.half


@given(sent=st.lists(REQUESTS, min_size=1, max_size=8))
def test_a_reader_that_has_read_other_requests_reads_the_same_as_a_new_one(sent: list[bytes]) -> None:
    events = Events()
    reader = RequestReader(events)
    for data in sent:
        expected_events = Events()
        expected_reader = RequestReader(expected_events)
        expected = _read(expected_reader, expected_events, data)
        assert _read(reader, events, data) == expected
        heads = [event for event in expected_events.events if isinstance(event, RequestHead)]
        if expected[0] is Malformed or expected_reader.half is not Half.IDLE or not all(h.keep_alive for h in heads):
            return


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(b"GET /a HTTP/1.1\r\n%b\r\n", b"DELETE /b HTTP/1.1\r\n%b\r\n", id="no body"),
        pytest.param(
            b"POST /a HTTP/1.1\r\n%bContent-Length: 2\r\n\r\n{}",
            b"PUT /b HTTP/1.1\r\n%bContent-Length: 10\r\n\r\n0123456789",
            id="body",
        ),
    ],
)
def test_equal_fields_are_not_parsed_again(first: bytes, second: bytes) -> None:
    first, second = first % FIELDS, second % FIELDS
    head = requests(first)[0]
    repeated = RepeatedFields()
    repeated.remember(first, head)
    found = repeated.read(second)
    assert found is not None
    assert [*found] == [requests(second)[0], (requests(second)[1:-1] or [b""])[0]]


def test_a_body_that_is_not_complete_is_left_to_the_parser() -> None:
    data = b"POST / HTTP/1.1\r\n" + FIELDS + b"Content-Length: 4\r\n\r\nbody"
    found = requests(data, data[:-1], data[-1:])
    assert found[:3] == found[3:]


def test_a_long_target_of_a_repeated_request_is_refused() -> None:
    events = Events()
    reader = RequestReader(events, Limits(head_bytes_max=1000))
    reader.feed(b"GET / HTTP/1.1\r\n" + FIELDS + b"\r\n")
    with pytest.raises(Malformed):
        reader.feed(b"GET /" + b"a" * 1000 + b" HTTP/1.1\r\n" + FIELDS + b"\r\n")
