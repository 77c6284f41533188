"""Requests that `sampan dashboard` passes on: streams, bounds, WebSockets, and errors of the cluster."""

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin, Subprotocol

from sampan.dashboard_proxy import forward
from sampan.wire.websocket import accept_upgrade
from tests.dashboard_proxy.browsing import PODS, SESSION, Browsing, browsing
from tests.server.proxy.upstream import ReceivedRequest

WATCH = f"{PODS}?watch=1"


def status(code: int, reason: str = "") -> bytes:
    """Return a Status."""
    return json.dumps({"kind": "Status", "code": code, "reason": reason, "message": f"cluster: {reason}"}).encode()


async def respond(request: ReceivedRequest) -> None:
    """Respond by the path."""
    body, path = await request.body(), request.target.removeprefix("/base").partition("?")[0]
    code = path.removeprefix("/codes/")
    if code != path:
        await request.response(status(int(code), "Refused"), f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\n")
    elif path == "/redirect":
        await request.response(b"", "HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\n")
    elif path == "/echo":
        await request.response(body)
    elif path == "/long":
        await request.response(b"x" * (forward.ERROR_BYTES_MAX + 1), "HTTP/1.1 500 X\r\n")
    elif path == "/half":
        await request.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        request.writer.close()
    elif path == "/lost":
        request.writer.close()
    elif path == PODS:
        await request.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        event = b'{"type":"ADDED","object":{}}\n'
        await request.send(b"%x\r\n%b\r\n" % (len(event), event))
        await request.gone()


async def test_a_request_has_its_body_and_type() -> None:
    async with browsing(respond) as page:
        reply = await (await page.log_in()).send(
            "PATCH", "/echo", {"a": 1}, content_type="application/merge-patch+json"
        )
        assert reply.json() == {"a": 1}
        assert page.cluster.last.headers["content-type"] == "application/merge-patch+json"


async def test_a_body_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "BODY_BYTES_MAX", 1000)
    async with browsing(respond) as page:
        assert (await (await page.log_in()).send("POST", "/echo", "x" * 2000)).status_code == 413
        assert page.cluster.requested == []


@pytest.mark.parametrize("code", [400, 403, 404, 409, 410, 422, 429, 500, 503, 504])
async def test_errors_of_the_cluster_are_passed_on(code: int) -> None:
    async with browsing(respond) as page:
        reply = await (await page.log_in()).get(f"/codes/{code}")
        assert (reply.status_code, reply.json()["message"]) == (code, "cluster: Refused")


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        ("/codes/401", 503, "refuses the credentials: renew those of context 'shop'"),
        ("/redirect", 500, "redirects to 'http://evil.example/', which is not followed"),
        ("/long", 500, "an error that is too long"),
        ("/lost", 502, "cannot reach the cluster of context 'shop'"),
    ],
)
async def test_a_faulty_response_is_explained(path: str, code: int, text: str) -> None:
    async with browsing(respond) as page:
        reply = await (await page.log_in()).get(path)
        assert reply.status_code == code
        assert text in reply.json()["message"]
        assert (await page.get(SESSION)).status_code == 200, "the session has not ended"


async def test_a_response_that_breaks_off_is_cut() -> None:
    async with browsing(respond) as page:
        await page.log_in()
        with pytest.raises(Exception, match=r"peer closed|disconnected"):
            await page.get("/half")


async def test_a_watch_is_passed_on_as_it_comes_and_ends_with_the_session() -> None:
    async with browsing(respond) as page:
        await page.log_in()
        reader, writer = await page.opened(
            f"GET {WATCH} HTTP/1.1\r\nX-Sampan-Page: 1\r\nSec-Fetch-Site: same-origin",
        )
        assert b"ADDED" in await asyncio.wait_for(reader.readuntil(b"ADDED"), 30)
        await page.send("DELETE", SESSION)
        with suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), 30)
        writer.close()
        await asyncio.wait_for(page.cluster.ended.wait(), 30)


async def test_a_browser_that_leaves_ends_the_request_to_the_cluster() -> None:
    async with browsing(respond) as page:
        await page.log_in()
        reader, writer = await page.opened(f"GET {WATCH} HTTP/1.1\r\nX-Sampan-Page: 1\r\nSec-Fetch-Site: same-origin")
        await reader.readuntil(b"ADDED")
        writer.close()
        await asyncio.wait_for(page.cluster.ended.wait(), 30)


async def test_a_browser_that_does_not_read_stops_the_cluster() -> None:
    sent = 0

    async def flood(request: ReceivedRequest) -> None:
        nonlocal sent
        await request.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"x" * (1 << 20)
        while sent < 1 << 30:
            await request.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            sent += len(piece)

    async with browsing(flood) as page:
        await page.log_in()
        reader, writer = await page.opened(f"GET {WATCH} HTTP/1.1\r\nX-Sampan-Page: 1\r\nSec-Fetch-Site: same-origin")
        await reader.readexactly(1000)
        await asyncio.wait_for(page.cluster.ended.wait(), 60)
        assert sent < 64 << 20
        writer.close()


async def test_at_most_a_number_of_requests_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "REQUESTS_MAX", 1)
    async with browsing(respond) as page:
        await page.log_in()
        reader, writer = await page.opened(f"GET {WATCH} HTTP/1.1\r\nX-Sampan-Page: 1\r\nSec-Fetch-Site: same-origin")
        await reader.readuntil(b"ADDED")
        assert (await page.get("/echo")).status_code == 429
        writer.close()
        await page.cluster.ended.wait()
        while (await page.get("/echo")).status_code == 429:  # noqa: ASYNC110  # nothing notifies a browser
            await asyncio.sleep(0)


async def echo_websocket(request: ReceivedRequest) -> None:
    """Accept a WebSocket and send back each frame as it is."""
    _, fields = accept_upgrade(request.method, request.headers, ["v5.channel.k8s.io"])
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    await request.send(f"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n{lines}\r\n".encode())
    # A server's frame has no mask: text "hello".
    await request.send(b"\x81\x05hello")
    await request.gone()


async def test_a_websocket_is_passed_on() -> None:
    async with browsing(echo_websocket) as page:
        await page.log_in()
        async with connect(
            f"ws://127.0.0.1:{page.port}{PODS}/web/exec?command=sh",
            origin=Origin(f"http://127.0.0.1:{page.port}"),
            additional_headers={"Cookie": page.cookie},
            subprotocols=[Subprotocol("v5.channel.k8s.io")],
            compression=None,
        ) as websocket:
            assert websocket.subprotocol == "v5.channel.k8s.io"
            assert await asyncio.wait_for(websocket.recv(), 30) == "hello"
            assert "cookie" not in page.cluster.last.headers
            assert "origin" not in page.cluster.last.headers
            await page.send("DELETE", SESSION)
            await asyncio.wait_for(page.cluster.ended.wait(), 30)


async def streamed(page: Browsing, path: str) -> tuple[int, list[Any], Any]:
    """Return status, lines and end of a request on the stream; after the first line, close it."""
    async with connect(
        f"ws://127.0.0.1:{page.port}/dashboard/stream",
        origin=Origin(f"http://127.0.0.1:{page.port}"),
        additional_headers={"Cookie": page.cookie},
        compression=None,
    ) as websocket:
        await websocket.send(json.dumps({"op": "open", "id": 1, "path": path}))
        code, lines = 0, list[Any]()
        async for text in websocket:
            frame = json.loads(text)
            code = frame.get("status", code)
            if "data" in frame:
                lines += frame["data"]
                await websocket.send(json.dumps({"op": "close", "id": 1}))
            if "end" in frame:
                return code, lines, frame["end"]
    raise AssertionError("the stream ended")


async def test_the_stream_watches_the_cluster() -> None:
    async with browsing(respond) as page:
        code, lines, end = await streamed(await page.log_in(), WATCH)
        assert (code, lines, end["code"]) == (200, [{"type": "ADDED", "object": {}}], 0)


async def test_the_stream_reports_a_cluster_that_is_away() -> None:
    async with browsing(respond) as page:
        code, _, end = await streamed(await page.log_in(), "/lost")
        assert (code, end["code"]) == (502, 502)
        assert "cannot reach the cluster" in end["message"]


async def test_a_line_that_is_no_json_cannot_break_the_stream() -> None:
    async def forged(request: ReceivedRequest) -> None:
        line = b'0]}{"id":2,"data":["forged"]}\n'
        await request.response(line, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        await request.gone()

    async with browsing(forged) as page:
        code, lines, end = await streamed(await page.log_in(), WATCH)
        assert (code, lines, end["code"]) == (200, [], 502)
