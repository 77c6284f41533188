"""Bytes that two readers could read differently are refused, in both roles, however they arrive."""

import pytest

from sampan.wire.http1 import Malformed
from tests.wire.http1.received import requests, responses

FIELDS = {
    "length and coding": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
    "coding and length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
    "two lengths": b"Content-Length: 5\r\nContent-Length: 6\r\n",
    "the same length twice": b"Content-Length: 5\r\nContent-Length: 5\r\n",
    "a list of lengths": b"Content-Length: 5, 5\r\n",
    "a signed length": b"Content-Length: +5\r\n",
    "a hexadecimal length": b"Content-Length: 0x5\r\n",
    "a length beyond all bounds": b"Content-Length: 99999999999999999999999999\r\n",
    "another coding": b"Transfer-Encoding: gzip\r\n",
    "a coding before chunked": b"Transfer-Encoding: gzip, chunked\r\n",
    "a coding like chunked": b"Transfer-Encoding: xchunked\r\n",
    "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "identity": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    "a bare LF": b"a: b\nContent-Length: 5\r\n",
    "a bare CR": b"a: b\rContent-Length: 5\r\n",
    "a NUL": b"a: b\0c\r\n",
    "a folded line": b"a: b\r\n Content-Length: 5\r\n",
    "a space before the colon": b"Content-Length : 5\r\n",
    "a space before the name": b" Content-Length: 5\r\n",
    "no name": b": 5\r\n",
    "no colon": b"Content-Length\r\n",
}
CHUNKS = {
    "a bare LF after a size": b"1\na\r\n0\r\n\r\n",
    "a bare LF after data": b"1\r\na\n0\r\n\r\n",
    "data longer than its size": b"1\r\nab\r\n0\r\n\r\n",
    "a size that is no number": b"0x1\r\na\r\n0\r\n\r\n",
    "a negative size": b"-1\r\na\r\n0\r\n\r\n",
    "a size beyond all bounds": b"fffffffffffffffff\r\na\r\n0\r\n\r\n",
    "an extension with a bare LF": b"1;a\nb\r\na\r\n0\r\n\r\n",
}


def letters(data: bytes) -> list[bytes]:
    return [bytes([letter]) for letter in data]


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
@pytest.mark.parametrize("split", [False, True], ids=["at once", "letter by letter"])
def test_fields_that_frame_a_body_in_two_ways_are_refused(fields: bytes, *, split: bool) -> None:
    requested = b"POST / HTTP/1.1\r\nHost: h\r\n" + fields + b"\r\n5\r\nhello\r\n0\r\n\r\n"
    sent = b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n5\r\nhello\r\n0\r\n\r\n"
    with pytest.raises(Malformed):
        requests(*(letters(requested) if split else [requested]))
    with pytest.raises(Malformed):
        responses(["GET"], *(letters(sent) if split else [sent]))


@pytest.mark.parametrize("body", CHUNKS.values(), ids=CHUNKS)
def test_chunks_that_end_in_two_places_are_refused(body: bytes) -> None:
    with pytest.raises(Malformed):
        requests(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    with pytest.raises(Malformed):
        responses(["GET"], b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)


@pytest.mark.parametrize(
    ("head", "status", "text"),
    [
        (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505, ": unsupported protocol version"),
        (b"GET / HTTP/0.9\r\nHost: h\r\n\r\n", 505, ": unsupported protocol version"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, ": missing required Host header"),
        (b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, ": malformed Host header"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, ""),
        (
            b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: a, chunked\r\n\r\n",
            501,
            ": Unsupported transfer encoding",
        ),
        (b"F(O / HTTP/1.1\r\nHost: h\r\n\r\n", 400, ""),
        (b"GET /\x80 HTTP/1.1\r\nHost: h\r\n\r\n", 400, ""),
        (b"GET / HTTP/1.1\nHost: h\n\n", 400, ""),
    ],
)
def test_a_refused_request_has_the_status_and_text_of_gos_server(head: bytes, status: int, text: str) -> None:
    with pytest.raises(Malformed) as refused:
        requests(head)
    assert (refused.value.status, refused.value.text) == (status, text)


def test_a_second_response_is_nobodys() -> None:
    first = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    assert responses(["GET"], first + first)[-1] == ("end", False)
    with pytest.raises(Malformed):
        responses(["GET"], first, first)


def test_a_response_to_head_has_no_body_whatever_its_fields_state() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
    assert responses(["HEAD"], head)[-1] == ("end", True)
    assert responses(["HEAD"], head + b"hello")[-1] == ("end", False)
    found = responses(["HEAD", "GET"], head, head + b"hello")
    assert (found[0].length, found[1], found[3:]) == (5, ("end", True), [b"hello", ("end", True)])


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_a_status_without_body_ends_with_its_head(status: bytes) -> None:
    head = b"HTTP/1.1 " + status + b"\r\nContent-Length: 5\r\n\r\n"
    assert responses(["GET"], head)[-1] == ("end", True)
    assert responses(["GET"], head + b"hello")[-1] == ("end", False)


def test_a_switch_that_was_not_announced_is_refused() -> None:
    with pytest.raises(Malformed):
        responses(["GET"], b"HTTP/1.1 101 Switching Protocols\r\n\r\n")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "EOF"),
        (b"HTTP/1.1 200 OK\r\n", "unexpected EOF"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "unexpected EOF"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "unexpected EOF"),
    ],
)
def test_a_response_that_breaks_off_is_not_complete(data: bytes, text: str) -> None:
    with pytest.raises(EOFError, match=f"^{text}$"):
        responses(["GET"], *([data] if data else []), ended=True)


def test_a_connection_that_either_side_closes_is_not_reusable() -> None:
    for line in (b"HTTP/1.1 200 OK\r\nConnection: close\r\n", b"HTTP/1.0 200 OK\r\n"):
        assert responses(["GET"], line + b"Content-Length: 2\r\n\r\nok")[-1] == ("end", False)
    assert not requests(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")[0].keep_alive
    assert not requests(b"GET / HTTP/1.0\r\n\r\n")[0].keep_alive


def test_a_request_with_an_unknown_method_and_a_malformed_head_is_refused() -> None:
    with pytest.raises(Malformed, match="no Host"):
        requests(b"FOO / HTTP/1.1\r\nAccept: */*\r\n\r\n")


@pytest.mark.parametrize("status", ["000", "001", "099", "1000", "20", "-20", "2 0"])
def test_a_status_that_no_server_may_send_is_refused(status: str) -> None:
    with pytest.raises(Malformed):
        responses(["GET"], f"HTTP/1.1 {status} OK\r\nContent-Length: 0\r\n\r\n".encode())
