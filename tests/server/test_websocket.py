"""Upgrades: a connection that is handed over, WebSockets on it, and watches on those."""

import asyncio
import base64
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, InvalidStatus
from websockets.typing import Subprotocol

from sampan.core.errors import StatusError
from sampan.http.tunnel import READ_AHEAD_BYTES, Tunnel
from sampan.server.authentication.static_token import StaticTokenAuthenticator
from sampan.server.authentication.websocket_token import PREFIX, WebSocketTokenAuthenticator
from sampan.server.connections.listener import HttpServer
from sampan.server.filters.error_responses import with_error_responses
from sampan.server.request import Handler, Request, Response
from sampan.server.verbs.watch.websocket import split_delimited
from sampan.server.websocket import MESSAGES_PER_TURN, accept, send_stream
from sampan.wire.websocket import MESSAGE_BYTES_MAX, SLICE_BYTES_MAX, WebSocket
from tests.properties import SHARED_FIXTURES, examples
from tests.server.client import Client
from tests.server.cluster import Api, served
from tests.server.frame import MASTER, TOKENS
from tests.server.requests import make_request

UPGRADE = b"GET /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n"
MAPS = "/api/v1/namespaces/default/configmaps"


@asynccontextmanager
async def listening(handler: Handler) -> AsyncIterator[tuple[HttpServer, int]]:
    server = HttpServer(handler)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await server.start(sock, None)
    try:
        yield server, sock.getsockname()[1]
    finally:
        server.stop_listening()
        await server.drain(5)


# --- tunnels


class Taken:
    """A handler that hands its connections to a function of the test."""

    def __init__(self, takeover: Callable[[Tunnel], Awaitable[None]]) -> None:
        self.takeover = takeover
        self.finished = asyncio.Event()

    async def __call__(self, request: Request) -> Response:
        headers = [(b"Upgrade", b"test"), (b"Connection", b"Upgrade")]
        return Response(101, content_type="", headers=headers, takeover=self.takeover, finished=self.finished.set)


async def echo(tunnel: Tunnel) -> None:
    while data := await tunnel.read():
        tunnel.write(data)
        await tunnel.drain()


async def upgraded(port: int, ahead: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(UPGRADE + ahead)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n")
    assert b"ontent-" not in head
    return reader, writer


async def test_an_upgraded_connection_carries_bytes_both_ways_until_the_client_goes() -> None:
    taken = Taken(echo)
    async with listening(taken) as (server, port):
        reader, writer = await upgraded(port, b"ahead")
        assert await reader.readexactly(5) == b"ahead"
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await reader.readexactly(18) == b"GET / HTTP/1.1\r\n\r\n"
        writer.close()
        await asyncio.wait_for(taken.finished.wait(), 60)
    assert server.connection_count == 0


async def test_the_connection_is_closed_when_its_taker_returns() -> None:
    async def hello(tunnel: Tunnel) -> None:
        tunnel.write(b"hello")

    async with listening(Taken(hello)) as (_, port):
        reader, writer = await upgraded(port)
        assert await reader.read() == b"hello"
        writer.close()


async def test_a_fault_of_the_taker_cuts_its_connection_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def fault(tunnel: Tunnel) -> None:
        raise ZeroDivisionError

    async with listening(Taken(fault)) as (_, port):
        for _ in range(2):
            reader, writer = await upgraded(port)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)
            writer.close()
    assert [record.message for record in caplog.records] == ["connection cut"] * 2


async def test_a_server_that_ends_lets_the_taker_close() -> None:
    async def polite(tunnel: Tunnel) -> None:
        try:
            await tunnel.read()
        except asyncio.CancelledError:
            tunnel.write(b"bye")
            raise

    async with listening(Taken(polite)) as (server, port):
        reader, writer = await upgraded(port)
        await server.close_streams()
        assert await reader.read() == b"bye"
        writer.close()


async def test_unread_data_stops_the_client() -> None:
    go, sizes = asyncio.Event(), []

    async def late(tunnel: Tunnel) -> None:
        await go.wait()
        while data := await tunnel.read():
            sizes.append(len(data))
            if sum(sizes) == 20 << 20:
                tunnel.write(b"all")

    async with listening(Taken(late)) as (_, port):
        reader, writer = await upgraded(port)
        writer.write(b"x" * (20 << 20))
        done, _ = await asyncio.wait([drain := asyncio.ensure_future(writer.drain())], timeout=0.1)
        assert not done
        go.set()
        await drain
        assert await reader.readexactly(3) == b"all"
        writer.close()
    assert max(sizes) < READ_AHEAD_BYTES + (512 << 10)


async def test_too_much_ahead_of_an_upgrade_ends_the_connection() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(request: Request) -> Response:
        begun.set()
        await go.wait()
        return Response()

    async with listening(slow) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(UPGRADE)
        await begun.wait()
        writer.write(b"x" * (READ_AHEAD_BYTES + 1))
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        writer.close()
        go.set()


# --- WebSockets


def responding(serve: Callable[[WebSocket], Awaitable[None]], *protocols: str) -> Handler:
    async def route(request: Request) -> Response:
        return accept(request, serve, protocols or None)

    return with_error_responses([])(route)


async def repeat(websocket: WebSocket) -> None:
    while (message := await websocket.receive()) is not None:
        await websocket.send(message)


@asynccontextmanager
async def client(
    serve: Callable[[WebSocket], Awaitable[None]], *protocols: str, **more: Any
) -> AsyncIterator[ClientConnection]:
    async with (
        listening(responding(serve, *protocols)) as (_, port),
        connect(f"ws://127.0.0.1:{port}/", compression=None, proxy=None, **more) as connection,
    ):
        yield connection


@pytest.mark.parametrize("message", ["text", "", "ü", b"bytes", b"", "x" * 70_000, b"x" * MESSAGE_BYTES_MAX])
async def test_messages_go_both_ways(message: str | bytes) -> None:
    async with client(repeat) as connection:
        await connection.send(message)
        assert await connection.recv() == message


async def test_a_message_may_come_in_pieces() -> None:
    async with client(repeat) as connection:
        await connection.send(["a", "b", "c"])
        assert await connection.recv() == "abc"


async def test_pings_are_acknowledged() -> None:
    async with client(repeat) as connection:
        await asyncio.wait_for(await connection.ping(), 60)


async def test_a_close_is_returned() -> None:
    async with client(repeat) as connection:
        await connection.close(4000, "enough")
        assert connection.close_code == 4000


async def test_a_taker_that_returns_closes_normally() -> None:
    async def hello(websocket: WebSocket) -> None:
        await websocket.send("hello")

    async with client(hello) as connection:
        assert [message async for message in connection] == ["hello"]
        assert connection.close_code == 1000


async def test_too_long_a_message_is_refused() -> None:
    async with client(repeat) as connection:
        await connection.send(b"x" * (MESSAGE_BYTES_MAX + 1))
        with pytest.raises(ConnectionClosedError, match="1009"):
            await connection.recv()


async def test_frames_without_a_mask_are_refused() -> None:
    async with client(repeat) as connection:
        connection.transport.write(b"\x81\x02hi")
        with pytest.raises(ConnectionClosedError, match="1002"):
            await connection.recv()


@pytest.mark.parametrize(
    ("known", "requested", "chosen"),
    [
        (("v5.channel.k8s.io", "v4.channel.k8s.io"), ("v4.channel.k8s.io", "v5.channel.k8s.io"), "v4.channel.k8s.io"),
        (("b", ""), (), None),
        ((), ("any",), "any"),
    ],
)
async def test_the_first_known_subprotocol_of_the_client_is_taken(
    known: tuple[str, ...], requested: tuple[str, ...], chosen: str | None
) -> None:
    subprotocols = [Subprotocol(name) for name in requested] or None
    async with client(repeat, *known, subprotocols=subprotocols) as connection:
        assert connection.subprotocol == chosen


KEY = base64.b64encode(b"k" * 16).decode()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"sec-websocket-version": "8"}, "Version"),
        ({"sec-websocket-key": ""}, "Key"),
        ({"sec-websocket-key": "dGhl"}, "Key"),
        ({"sec-websocket-key": "ü"}, "Key"),
    ],
    ids=["version", "no-key", "short-key", "bad-key"],
)
async def test_a_wrong_handshake_is_refused(change: dict[str, str], text: str) -> None:
    good = {"sec-websocket-version": "13", "sec-websocket-key": KEY, "upgrade": "websocket", "connection": "Upgrade"}
    handler = with_error_responses([])(responding(repeat, "known", ""))
    response = await Client(handler, good | change).get("/")
    assert (response.status, text.encode() in response.body) == (400, True)


async def test_a_protocol_that_is_not_served_is_forbidden_as_by_go() -> None:
    requested = {"sec-websocket-version": "13", "sec-websocket-key": KEY, "sec-websocket-protocol": "other"}
    handler = with_error_responses([])(responding(repeat, "known", ""))
    response = await Client(handler, requested | {"upgrade": "websocket", "connection": "Upgrade"}).get("/")
    assert (response.status, response.body) == (403, b"")


class Carrier:
    """A connection of the test's making."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.active = 0.0

    def connection_lost(self, exc: Exception | None) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    async def drain(self) -> None: ...


class Wire(asyncio.Transport):
    """A transport that forgets what is written."""

    def write(self, data: bytes | bytearray | memoryview) -> None: ...

    def is_closing(self) -> bool:
        return False

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None: ...


@settings(max_examples=examples(200), suppress_health_check=SHARED_FIXTURES)
@given(st.lists(st.binary(max_size=60), max_size=8))
async def test_garbage_ends_a_websocket_and_is_no_fault(pieces: list[bytes]) -> None:
    tunnel = Tunnel.take_over(Wire(), carrier=Carrier())
    for piece in pieces:
        tunnel.data_received(piece)
    tunnel.eof_received()
    websocket = WebSocket(tunnel)
    while await websocket.receive() is not None:
        pass
    assert await websocket.receive() is None


# --- watches


@asynccontextmanager
async def watching(api: Api, query: str, **headers: str) -> AsyncIterator[ClientConnection]:
    async with (
        listening(api.server.handler) as (_, port),
        connect(
            f"ws://127.0.0.1:{port}{MAPS}?watch=1{query}",
            additional_headers={**MASTER, **headers},
            compression=None,
            proxy=None,
        ) as connection,
    ):
        yield connection


async def make(api: Api, *names: str) -> None:
    for name in names:
        await api.create(MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


async def names_of(connection: ClientConnection, count: int) -> list[tuple[str, str]]:
    found = []
    for _ in range(count):
        message = await asyncio.wait_for(connection.recv(), 60)
        assert isinstance(message, str)
        assert message.endswith("}\n")
        event = orjson.loads(message)
        found.append((event["type"], event["object"]["metadata"]["name"]))
    return found


async def test_a_watch_sends_one_text_message_an_event() -> None:
    async with served() as api:
        await make(api, "a", "b")
        async with watching(api, "") as connection:
            assert await names_of(connection, 2) == [("ADDED", "a"), ("ADDED", "b")]
            await connection.send("what clients say is ignored")
            await make(api, "c")
            await api.delete(f"{MAPS}/c")
            assert await names_of(connection, 2) == [("ADDED", "c"), ("DELETED", "c")]


async def test_a_protobuf_watch_sends_binary_messages_without_lengths() -> None:
    async with served() as api:
        await make(api, "a")
        accept_ = "application/vnd.kubernetes.protobuf;stream=watch"
        async with watching(api, "", Accept=accept_) as connection:
            message = await asyncio.wait_for(connection.recv(), 60)
            assert isinstance(message, bytes)
            assert message.startswith(b"\x0a\x05ADDED\x12")


async def test_a_watch_over_a_websocket_ends_with_its_time() -> None:
    async with served() as api, watching(api, "&timeoutSeconds=1") as connection:
        with pytest.raises(ConnectionClosed, match="1000"):
            await asyncio.wait_for(connection.recv(), 60)


async def test_a_client_that_close_ends_its_watch() -> None:
    async with served() as api:
        async with watching(api, "") as connection:
            await connection.close()
            assert connection.close_code == 1000
        open_watches = [count for count in api.server.metrics.long_running.values() if count]
        assert open_watches == []


async def test_the_end_of_the_server_is_reported_as_going_away() -> None:
    async with served() as api, listening(api.server.handler) as (server, port):
        url = f"ws://127.0.0.1:{port}{MAPS}?watch=1"
        async with connect(url, additional_headers=MASTER, compression=None, proxy=None) as connection:
            await server.close_streams()
            with pytest.raises(ConnectionClosed, match="1001"):
                await asyncio.wait_for(connection.recv(), 60)


@pytest.mark.parametrize(("headers", "status"), [({}, 403), ({"Authorization": "Bearer wrong"}, 401)])
async def test_a_websocket_needs_the_rights_of_a_watch(headers: dict[str, str], status: int) -> None:
    async with served() as api, listening(api.server.handler) as (_, port):
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{port}{MAPS}?watch=1", additional_headers=headers, proxy=None)
        assert refused.value.response.status_code == status


async def test_a_revision_that_is_no_number_is_refused_before_the_upgrade() -> None:
    async with served() as api:
        with pytest.raises(InvalidStatus) as refused:
            async with watching(api, "&resourceVersion=x"):
                pass
        assert refused.value.response.status_code == 500


def request_with(protocols: str, **more: str) -> Request:
    async def no_body(limit: int) -> bytes:
        return b""

    headers = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-protocol": protocols, **more}
    return make_request("GET", "/", "", headers, no_body)


def token_protocol(token: str) -> str:
    return PREFIX + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


TOKEN = token_protocol("jane-token")


async def test_a_browser_brings_its_token_as_a_subprotocol_which_is_taken_away() -> None:
    request = request_with(f"first, {TOKEN}, second")
    user = await WebSocketTokenAuthenticator([StaticTokenAuthenticator(TOKENS)]).authenticate(request)
    assert user is not None
    assert (user.name, "system:authenticated" in user.groups) == ("jane", True)
    assert request.headers["sec-websocket-protocol"] == "first,second"


@pytest.mark.parametrize(
    "protocols",
    [TOKEN, f"{TOKEN},{TOKEN},x", f"{token_protocol('wrong')},x", f"{PREFIX}!!,x", f"{PREFIX}_w,x", f"{PREFIX}YSBi,x"],
    ids=["alone", "twice", "unknown", "no-base64", "no-text", "two-words"],
)
async def test_a_wrong_token_of_a_browser_is_unauthorized(protocols: str) -> None:
    with pytest.raises(StatusError) as refused:
        await WebSocketTokenAuthenticator([StaticTokenAuthenticator(TOKENS)]).authenticate(request_with(protocols))
    assert refused.value.code == 401


@pytest.mark.parametrize(
    "request_",
    [request_with(""), request_with("x"), request_with(f"{PREFIX},x"), request_with(f"{TOKEN},x", upgrade="other")],
    ids=["no-protocol", "no-token", "empty-token", "no-websocket"],
)
async def test_without_a_token_of_a_browser_no_client_is_known(request_: Request) -> None:
    assert await WebSocketTokenAuthenticator([StaticTokenAuthenticator(TOKENS)]).authenticate(request_) is None


def test_delimited_events_lose_their_lengths() -> None:
    assert split_delimited(b"\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x01c") == [b"ab", b"", b"c"]


async def test_a_stream_ends_soon_after_its_client_is_gone() -> None:
    sent: list[str | bytes] = []

    class Gone:
        """WebSocket whose client has disconnected. Its connection accepts all writes at once."""

        async def send(self, data: str | bytes) -> None:
            sent.append(data)

        async def receive(self) -> None:
            return None

    async def stream() -> AsyncIterator[bytes]:
        yield b"x" * 10_000

    gone: Any = Gone()
    await send_stream(gone, stream(), lambda chunk: [chunk[at : at + 1] for at in range(len(chunk))])
    assert len(sent) <= 4 * MESSAGES_PER_TURN


async def test_a_flood_of_pings_gives_way_to_other_tasks() -> None:
    iterations = 0

    def count() -> None:
        nonlocal iterations
        iterations += 1
        asyncio.get_running_loop().call_soon(count)

    class Flood:
        """Connection that delivers all frames at once, as TLS may do."""

        left = b"\x89\x80\0\0\0\0" * 20_000
        is_drained = True

        async def read(self) -> bytes:
            data, self.left = self.left, b""
            return data

        def write(self, data: bytes) -> None:
            pass

        async def drain(self) -> None:
            pass

    count()
    assert await WebSocket(Flood()).receive() is None
    assert iterations > 120_000 // SLICE_BYTES_MAX
