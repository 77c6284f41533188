"""The stream of a page: many requests on one WebSocket, on a real socket."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from sampan.server.connections.listener import HttpServer
from sampan.server.connections.settings import HttpSettings
from sampan.server.dashboard.stream import multiplex
from sampan.server.dashboard.stream.messages import BadMessage, Open, parse_message
from sampan.server.dashboard.stream.subscription import Subscription
from sampan.server.request import Request, Response
from tests.server.cluster import Api
from tests.server.dashboard.browser import SESSION, Browser
from tests.server.requests import make_request

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Page:
    """A page with its stream. Frames are sorted by id."""

    def __init__(self, browser: Browser, port: int) -> None:
        self.browser = browser
        self.host = f"127.0.0.1:{port}"
        self.headers = {"host": self.host, "sec_fetch_site": "same-origin", "x_sampan_page": "1"}
        self.socket: ClientConnection

    @asynccontextmanager
    async def stream(self, origin: str | None = None, *, cookie: str | None = None) -> AsyncIterator["Page"]:
        """Open the stream for the block."""
        headers = {"Cookie": self.browser.cookie if cookie is None else cookie}
        own = f"https://{self.host}" if origin is None else origin
        uri = f"ws://{self.host}/dashboard/stream"
        async with connect(
            uri, origin=Origin(own) if own else None, additional_headers=headers, compression=None, max_size=1 << 24
        ) as found:
            self.socket = found
            yield self

    async def send(self, **message: Any) -> None:
        """Send a message."""
        await self.socket.send(json.dumps(message))

    async def receive(self) -> Any:
        """Return the next frame."""
        async with asyncio.timeout(30):
            return json.loads(await self.socket.recv())

    async def whole(self, number: int) -> tuple[int, list[Any], Any]:
        """Return status, lines and end of a response, without frames of others."""
        status, lines = 0, []
        while True:
            frame = await self.receive()
            if frame["id"] != number:
                continue
            status = frame.get("status", status)
            lines += frame.get("data", [])
            if "end" in frame:
                return status, lines, frame["end"]


@pytest.fixture
async def page(api: Api, browser: Browser) -> AsyncIterator[Page]:
    """Serve on a real socket. The page's session has all rights."""
    server = HttpServer(api.server.handler, HttpSettings(write_timeout_s=2.0, sweep_interval_s=0.2))
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    running = asyncio.ensure_future(server.run())
    await server.start(sock, None)
    made = Page(browser, sock.getsockname()[1])
    reply = await browser.fetch("POST", SESSION, {"token": "master-token"}, **made.headers)
    assert reply.code == 201
    try:
        yield made
    finally:
        await server.stop_accepting()
        await server.close_streams()
        await server.drain(5)
        running.cancel()


async def test_a_list_is_one_document(page: Page) -> None:
    async with page.stream():
        await page.send(op="open", id=1, path=CONFIGMAPS, accept=TABLE)
        status, (table,), end = await page.whole(1)
        assert (status, table["kind"], end) == (200, "Table", {"code": 200, "message": ""})


async def test_watches_share_the_stream(api: Api, page: Page) -> None:
    async with page.stream():
        for number in range(20):
            await page.send(op="open", id=number, path=f"{CONFIGMAPS}?watch=1&resourceVersion=0", accept=TABLE)
        assert {(await page.receive())["status"] for _ in range(20)} == {200}
        await api.create(CONFIGMAPS, {"metadata": {"name": "new"}})
        reached: set[int] = set()
        while len(reached) < 20:
            frame = await page.receive()
            for event in frame["data"]:
                assert event["object"]["rows"][0]["object"]["metadata"]["name"] == "new"
                reached.add(frame["id"])


async def test_each_subscription_is_authorized_by_itself(api: Api, page: Page) -> None:
    await page.browser.fetch("POST", SESSION, {"token": "jane-token"}, **page.headers)
    async with page.stream():
        await page.send(op="open", id=1, path="/api/v1/secrets?watch=1")
        status, (document,), end = await page.whole(1)
        assert (status, document["reason"], end["code"]) == (403, "Forbidden", 403)
        assert 'User "jane" cannot watch resource "secrets"' in end["message"]
        await page.send(op="open", id=1, path="/version")
        assert (await page.whole(1))[0] == 200


async def test_a_subscription_impersonates_only_with_the_right(page: Page) -> None:
    async with page.stream():
        await page.send(op="open", id=1, path="/api/v1/secrets", impersonate={"user": "joe", "groups": ["a", "b"]})
        _, _, end = await page.whole(1)
        assert 'User "joe"' in end["message"]
    await page.browser.fetch("POST", SESSION, {"token": "jane-token"}, **page.headers)
    async with page.stream():
        await page.send(op="open", id=1, path="/version", impersonate={"user": "admin"})
        assert (await page.whole(1))[0] == 403


async def test_without_credit_nothing_more_is_sent(api: Api, page: Page) -> None:
    for number in range(5):
        await api.create(CONFIGMAPS, {"metadata": {"name": f"c{number}"}})
    async with page.stream():
        await page.send(op="open", id=1, path=f"{CONFIGMAPS}?watch=1", credit=2)
        assert (await page.receive())["status"] == 200
        assert len((await page.receive())["data"]) == 2
        await page.send(op="open", id=2, path="/version")
        assert (await page.whole(2))[0] == 200  # the first has sent nothing meanwhile, or `whole` would have dropped it
        await page.send(op="credit", id=1, add=3)
        assert len((await page.receive())["data"]) == 3


async def test_a_closed_subscription_ends_and_its_id_is_free(page: Page) -> None:
    async with page.stream():
        for _ in range(2):
            await page.send(op="open", id=1, path=f"{CONFIGMAPS}?watch=1")
            assert (await page.receive())["status"] == 200
            await page.send(op="close", id=1)
            assert (await page.receive()) == {"id": 1, "end": {"code": 0, "message": "closed"}}


async def test_a_log_of_text_is_lines_of_strings(page: Page) -> None:
    async with page.stream():
        await page.send(op="open", id=1, path="/healthz")
        assert await page.whole(1) == (200, ["ok"], {"code": 200, "message": ""})


@pytest.mark.parametrize(
    "path",
    [
        "/dashboard/session",
        "/dashboard/stream",
        "/api/v1/namespaces/default/pods/p/proxy/",
        "/api/%zz",
        "/api/v1/watch",
    ],
)
async def test_paths_that_are_no_resources_are_refused(page: Page, path: str) -> None:
    async with page.stream():
        await page.send(op="open", id=1, path=path)
        status, _, end = await page.whole(1)
        assert status in (400, 404, 500)
        assert end["code"] == status


async def test_a_stream_has_a_bounded_number_of_subscriptions(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplex, "SUBSCRIPTIONS_MAX", 1)
    async with page.stream():
        await page.send(op="open", id=1, path=f"{CONFIGMAPS}?watch=1")
        assert (await page.receive())["status"] == 200
        await page.send(op="open", id=2, path="/version")
        assert (await page.whole(2))[0] == 429


async def test_a_session_has_a_bounded_number_of_streams(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiplex, "SOCKETS_MAX", 1)
    async with page.stream():
        with pytest.raises(InvalidStatus) as caught:
            async with page.stream():
                pass
        assert caught.value.response.status_code == 429


@pytest.mark.parametrize(
    "message",
    [
        b"\xff",
        "{",
        "[]",
        '{"op": "patch", "id": 1}',
        '{"op": "open", "id": 1}',
        '{"op": "open", "id": -1, "path": "/"}',
        '{"op": "open", "id": 1e99, "path": "/"}',
        '{"op": "open", "id": 1, "path": "version"}',
        '{"op": "open", "id": 1, "path": "/a b"}',
        '{"op": "open", "id": 1, "path": "/\\r\\nX: y"}',
        '{"op": "open", "id": 1, "path": "/", "accept": "a\\r\\nb"}',
        '{"op": "open", "id": 1, "path": "/", "impersonate": {"user": "a\\nb"}}',
        '{"op": "open", "id": 1, "path": "/", "method": "DELETE"}',
        '{"op": "open", "id": 1, "path": "/", "credit": 0}',
        '{"op": "credit", "id": 1, "add": 1000000}',
        "[" * 20_000,
    ],
)
def test_what_is_no_message_is_refused(message: str | bytes) -> None:
    with pytest.raises(BadMessage):
        parse_message(message)


@pytest.mark.parametrize("message", ["{", "x" * 40_000, '{"op": "open", "id": 1, "path": "version"}'])
async def test_a_page_that_breaks_the_protocol_loses_the_stream(page: Page, message: str) -> None:
    async with page.stream():
        await page.socket.send(message)
        with pytest.raises(ConnectionClosed) as caught:
            await page.receive()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code in (1008, 1009)


async def test_a_used_id_breaks_the_protocol(page: Page) -> None:
    async with page.stream():
        for _ in range(2):
            await page.send(op="open", id=1, path=f"{CONFIGMAPS}?watch=1")
        with pytest.raises(ConnectionClosed):
            await page.whole(2)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", ""])
async def test_a_page_of_another_origin_gets_no_stream(page: Page, origin: str) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with page.stream(origin):
            pass
    assert caught.value.response.status_code == 403


@pytest.mark.parametrize("cookie", ["", "__Host-sampan=x"])
async def test_without_a_session_there_is_no_stream(page: Page, cookie: str) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with page.stream(cookie=cookie):
            pass
    assert caught.value.response.status_code == 401


async def test_a_request_that_is_no_websocket_gets_no_stream(page: Page) -> None:
    assert (await page.browser.fetch("GET", "/dashboard/stream", **page.headers)).code == 403


async def test_a_logout_ends_the_stream(page: Page) -> None:
    async with page.stream():
        await page.send(op="open", id=1, path=f"{CONFIGMAPS}?watch=1")
        assert (await page.receive())["status"] == 200
        assert (await page.browser.fetch("DELETE", SESSION, **page.headers)).code == 204
        with pytest.raises(ConnectionClosed):
            await page.receive()


async def test_a_revoked_session_ends_the_stream(api: Api, page: Page) -> None:
    async with page.stream():
        (item,) = (await api.get("/dashboard/sessions")).body["items"]
        assert (await api.delete(f"/dashboard/sessions/{item['id']}")).code == 204
        with pytest.raises(ConnectionClosed):
            await page.receive()


async def test_a_page_that_does_not_read_loses_the_stream(api: Api, page: Page) -> None:
    for number in range(40):
        await api.create(CONFIGMAPS, {"metadata": {"name": f"c{number}"}, "data": {"a": "x" * 500_000}})
    reader, writer = await asyncio.open_connection("127.0.0.1", int(page.host.rpartition(":")[2]), limit=1 << 10)
    head = (
        f"GET /dashboard/stream HTTP/1.1\r\nHost: {page.host}\r\nOrigin: https://{page.host}\r\nConnection: Upgrade\r\n"
        f"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Cookie: {page.browser.cookie}\r\n\r\n"
    )
    writer.write(head.encode())
    assert b"101" in await reader.readline()
    message = json.dumps({"op": "open", "id": 1, "path": f"{CONFIGMAPS}?watch=1", "credit": 10_000}).encode()
    for _ in range(3):
        writer.write(bytes([0x81, 0x80 | len(message)]) + bytes(4) + message)
        message = message.replace(b'"id": ', b'"id": 1')
    for _ in range(600):
        if not _open_streams(api):
            break
        await asyncio.sleep(0.05)
    assert not _open_streams(api)
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def _open_streams(api: Api) -> int:
    """Return the number of open sockets."""
    dashboard = api.server.dashboard
    assert dashboard is not None
    assert dashboard._stream is not None
    return len(dashboard._stream._open)


@pytest.mark.parametrize("body", [b'0],"id":2,"data":[1', b'{"a":1}{"b":2}', b"{", b"\xff"])
async def test_another_server_cannot_send_frames_of_other_subscriptions(body: bytes) -> None:
    frames: list[bytes] = []

    async def send(frame: bytes) -> None:
        frames.append(frame)

    async def handler(request: Request) -> Response:
        request.component = "aggregator"
        return Response(200, body)

    await Subscription(Open(1, "/apis/a.example/v1/things"), make_request(), handler, send).run()
    assert [json.loads(frame)["id"] for frame in frames] == [1, 1]
    assert json.loads(frames[-1])["end"]["code"] == 502
