"""Clients of HTTP/2 in front of an upstream of HTTP/1.1."""

import os
from pathlib import Path

import pytest
from h2.events import StreamReset

from sampan.core.errors import StatusError
from sampan.server.filters.error_responses import with_error_responses
from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.headers import head_of
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request, Response
from tests.server.client import Client
from tests.server.http2_client import connected, running
from tests.server.proxy.upstream import ReceivedRequest, to, upstream
from tests.server.tls_files import make_files


@pytest.mark.parametrize("size", [0, 5, 3 << 20], ids=["empty", "small", "large"])
async def test_a_body_without_a_length_arrives_whole(tmp_path: Path, size: int) -> None:
    async def echo(requested: ReceivedRequest) -> None:
        await requested.response(await requested.body())

    body, proxy = os.urandom(size), Proxy()
    async with upstream(echo) as served:

        async def handler(request: Request) -> Response:
            return await proxy.forward(request, to(served)(request))

        async with (
            running(make_files(tmp_path), with_error_responses([])(handler)) as front,
            connected(front) as client,
        ):
            response = await client.fetch("POST", "/x?a=1", body)
            assert (response.status, response.body) == (200, body)
            assert response.headers["content-length"] == str(size)
            assert served.last.headers.get("transfer-encoding") == ("chunked" if size else None)
            assert served.last.headers["host"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("transfer-encoding:chunked,x", "y"),
        ("x\r\nhost", "evil"),
        ("x y", "z"),
        ("", "x"),
        ("x", "a\r\nTransfer-Encoding: chunked"),
        ("x", "a\nb"),
        ("x", "\0"),
    ],
    ids=repr,
)
def test_headers_that_http_1_has_no_words_for_are_left_out(name: str, value: str) -> None:
    head = head_of("GET", ProxyTarget("h", 80, "/a b\r\nX: 1", "q\r\n"), {"host": "h", name: value})
    assert head == b"GET /a%20b%0D%0AX:%201?q%0D%0A HTTP/1.1\r\nhost: h\r\n\r\n"


@pytest.mark.parametrize("length", ["+1", "1_0", "-1", "1 1", "\u0663"])
async def test_a_length_that_is_no_number_is_refused(length: str) -> None:
    async def handler(request: Request) -> Response:
        return await Proxy().forward(request, ProxyTarget("127.0.0.1", 1, "/"))

    with pytest.raises(StatusError, match="Content-Length"):
        await Client(handler).request("POST", "/", b"x", {"content-length": length})


async def test_a_truncated_response_resets_the_stream(tmp_path: Path) -> None:
    async def response(requested: ReceivedRequest) -> None:
        await requested.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        requested.writer.close()
        raise ConnectionResetError

    proxy = Proxy()
    async with upstream(response) as served:

        async def handler(request: Request) -> Response:
            return await proxy.forward(request, to(served)(request))

        async with (
            running(make_files(tmp_path), with_error_responses([])(handler)) as front,
            connected(front) as client,
        ):
            stream_id = client.request("GET", "/")
            client.flush()
            assert (await client.wait(StreamReset, stream_id)).remote_reset
