"""All the shapes that an answer may have."""

import gzip

import pytest

from sampan.client.transport import HttpRequest
from sampan.wire.http1 import Repeated, values_of
from tests.http.client.scripted import GET, STREAM, ReceivedRequest, recording, responds, responds_once, scripted

PLAIN = b"HTTP/1.1 200 OK\r\n"
ZIPPED = gzip.compress(b"ab" * 5000)
GZIP = b"content-encoding: gzip\r\n"


def sized(body: bytes, fields: bytes = b"") -> bytes:
    return PLAIN + fields + b"content-length: %d\r\n\r\n" % len(body) + body


def chunked(*chunks: bytes, fields: bytes = b"") -> bytes:
    written = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    return PLAIN + fields + b"transfer-encoding: chunked\r\n\r\n" + written


SHAPES = {
    "content-length": (sized(b"hello"), b"hello"),
    "nothing": (sized(b""), b""),
    "chunked": (chunked(b"he", b"l", b"lo"), b"hello"),
    "interim answers first": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + sized(b"hello"),
        b"hello",
    ),
    "gzip": (sized(ZIPPED, GZIP), b"ab" * 5000),
    "gzip, chunked": (chunked(ZIPPED[:9], ZIPPED[9:], fields=GZIP), b"ab" * 5000),
    "gzip of several members": (sized(gzip.compress(b"a") + gzip.compress(b"b"), GZIP), b"ab"),
    "gzip of nothing": (sized(b"", GZIP), b""),
    "trailers": (
        PLAIN + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-later: 1\r\n\r\n",
        b"hello",
    ),
}


@pytest.mark.parametrize(("reply", "body"), SHAPES.values(), ids=SHAPES)
async def test_the_body_is_read_whole_and_the_connection_serves_again(reply: bytes, body: bytes) -> None:
    async with scripted(responds(reply)) as server, server.transport() as transport:
        for _ in range(2):
            response = await transport.send(GET)
            assert response.status == 200
            assert await response.read() == body
        assert server.connections == 1


@pytest.mark.parametrize(("reply", "body"), SHAPES.values(), ids=SHAPES)
async def test_the_body_is_streamed_whole_however_it_is_cut(reply: bytes, body: bytes) -> None:
    parts = [reply[i : i + 7] for i in range(0, len(reply), 7)]
    async with scripted(responds(*parts)) as server, server.transport() as transport:
        response = await transport.send(STREAM)
        assert b"".join([chunk async for chunk in response.chunks()]) == body


async def test_a_body_may_end_where_the_connection_ends() -> None:
    async with scripted(responds_once(PLAIN + b"\r\nall ", b"of it")) as server, server.transport() as transport:
        assert await (await transport.send(GET)).read() == b"all of it"
        assert await (await transport.send(GET)).read() == b"all of it"
        assert server.connections == 2


@pytest.mark.parametrize("status", [204, 304])
async def test_responses_without_a_body_end_with_their_head(status: int) -> None:
    head = b"HTTP/1.1 %d X\r\nx: y\r\n\r\n" % status
    async with scripted(responds(head)) as server, server.transport() as transport:
        for _ in range(2):
            response = await transport.send(GET)
            assert (response.status, await response.read()) == (status, b"")
        assert server.connections == 1


async def test_a_response_to_head_has_no_body() -> None:
    async with scripted(responds(PLAIN + b"content-length: 99\r\n\r\n")) as server, server.transport() as transport:
        response = await transport.send(HttpRequest("HEAD", "/x"))
        assert (response.status, await response.read()) == (200, b"")


async def test_names_are_lower_case_and_each_value_of_a_repeated_field_is_kept() -> None:
    fields = b"X-One: 1\r\nWarning: a\r\nwarning: b\r\n"
    async with scripted(responds(sized(b"", fields))) as server, server.transport() as transport:
        headers = (await transport.send(GET)).headers
        assert (headers["x-one"], headers["warning"], values_of(headers["warning"])) == ("1", "a, b", ("a", "b"))


async def test_an_error_status_is_returned_as_a_response() -> None:
    async with (
        scripted(responds(b"HTTP/1.1 500 X\r\ncontent-length: 1\r\n\r\n!")) as server,
        server.transport() as transport,
    ):
        response = await transport.send(GET)
        assert (response.status, await response.read()) == (500, b"!")


async def test_a_redirect_is_returned_and_not_followed() -> None:
    reply = b"HTTP/1.1 302 Found\r\nlocation: /y\r\ncontent-length: 0\r\n\r\n"
    async with scripted(responds(reply)) as server, server.transport() as transport:
        assert (await transport.send(HttpRequest("POST", "/x", body=b"{}"))).status == 302


async def test_a_request_is_sent_with_its_target_headers_and_body() -> None:
    requested: list[ReceivedRequest] = []
    async with scripted(recording(requested)) as server, server.transport() as transport:
        request = HttpRequest(
            "PATCH", "/a%20b?c=d", {"x-many": Repeated.of(["1", "2"]), "accept": "text/plain"}, b"body"
        )
        await (await transport.send(request)).read()
    assert requested[0].line == "PATCH /a%20b?c=d HTTP/1.1"
    assert requested[0].body == b"body"
    assert requested[0].headers["x-many"] == ["1", "2"]
    assert requested[0].headers["accept-encoding"] == ["gzip"]
    assert requested[0].headers["host"] == [server.address.authority]


async def test_header_fields_are_utf_8() -> None:
    requested: list[ReceivedRequest] = []
    reply = PLAIN + 'warning: 299 - "grüße"\r\ncontent-length: 0\r\n\r\n'.encode()
    async with scripted(recording(requested, reply)) as server, server.transport() as transport:
        response = await transport.send(HttpRequest("GET", "/x", {"impersonate-user": "jürgen"}))
    assert requested[0].headers["impersonate-user"] == ["jürgen".encode().decode("latin-1")]
    assert response.headers["warning"] == '299 - "grüße"'


async def test_a_post_without_a_body_is_reported() -> None:
    requested: list[ReceivedRequest] = []
    async with scripted(recording(requested)) as server, server.transport() as transport:
        await (await transport.send(HttpRequest("POST", "/x"))).read()
    assert requested[0].headers["content-length"] == ["0"]
