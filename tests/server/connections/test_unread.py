"""Responses that clients do not read: bounded bytes, and the policy at each limit."""

import ast
import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import StreamReset

import sampan
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.settings import HttpSettings
from sampan.server.connections.unread import OVERHEAD_BYTES, UnreadBytes, UnreadLimits, account_of
from sampan.server.request import Request, Response, UserInfo, WireRequest
from sampan.server.verbs.representations.pieces import slices
from tests.server.http2_client import running
from tests.server.tls_files import Files, make_files

MB = 1 << 20
LIMITS = UnreadLimits(megabytes_per_connection=4, megabytes_per_user=6, megabytes=9)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("tls"))


class Receiver:
    def __init__(self) -> None:
        self.is_cut = False

    def cut(self) -> None:
        self.is_cut = True


class Waits:
    """Responses of 1.5 MB each that wait, by connection and user."""

    def __init__(self) -> None:
        self.unread = UnreadBytes(LIMITS)
        self.stack = ExitStack()

    def add(self, connection: str, user: str, body: bytes | None = None) -> Receiver:
        receiver = Receiver()
        bodies = (bytes(3 * MB // 2) if body is None else body,)
        self.stack.enter_context(self.unread.waiting(receiver, connection, user, bodies, 0))
        return receiver


@pytest.mark.parametrize(
    ("waiting", "cut", "limit"),
    [
        pytest.param(["a jane", "a jane"], [], "", id="within the limits"),
        pytest.param(["a jane", "a jane", "a jane"], [0], "connection", id="one connection"),
        pytest.param(["a jane", "b jane", "c jane", "d jane"], [0], "user", id="one user"),
        pytest.param(
            ["a john", "b jane", "c jane", "d jane", "e jim", "f jack"],
            [1],
            "server",
            id="the user with the most bytes",
        ),
    ],
)
def test_the_response_that_has_waited_longest_is_cut(waiting: list[str], cut: list[int], limit: str) -> None:
    waits = Waits()
    receivers = [waits.add(connection, user) for connection, user in map(str.split, waiting)]
    assert [index for index, each in enumerate(receivers) if each.is_cut] == cut
    assert [name for name, count in waits.unread.cuts.items() if count] == [limit] * bool(cut)


def test_the_only_response_of_a_connection_waits_whatever_its_size() -> None:
    assert not Waits().add("a", "jane", bytes(20 * MB)).is_cut


def test_a_shared_body_counts_once() -> None:
    waits, body = Waits(), bytes(3 * MB)
    receivers = [waits.add(str(index), str(index % 2), body) for index in range(50)]
    assert not any(each.is_cut for each in receivers)
    assert waits.unread.total_bytes == len(body) + 50 * OVERHEAD_BYTES


def test_nothing_is_left_of_responses_that_were_read_or_cut() -> None:
    waits = Waits()
    for index in range(20):
        waits.add(str(index % 3), str(index % 5))
    waits.stack.close()
    assert (waits.unread.total_bytes, waits.unread.responses) == (0, 0)
    assert not waits.unread._users
    assert not waits.unread._connections


def test_anonymous_clients_count_by_address() -> None:
    async def none(_: int) -> bytes:
        return b""

    def account(address: str, user: str) -> str:
        wire = WireRequest("GET", "/", "", none, client_address=address)
        return account_of(Request(wire, {}, user=UserInfo(user)))

    assert account("192.0.2.1", "system:anonymous") != account("192.0.2.2", "system:anonymous")
    assert account("192.0.2.1", "jane") == account("192.0.2.2", "jane") == "jane"


async def large(request: Request) -> Response:
    """Answer with a body that no other response shares."""
    request.user = UserInfo("jane")
    if request.wire.path == "/stream":
        return Response(stream=pieces(), finite=True)
    return Response(body=bytes(3 * MB))


async def pieces() -> AsyncIterator[bytes]:
    for _ in range(20):
        yield bytes(3 * MB)


def unreading(port: int, *protocols: str) -> ssl.SSLSocket:
    """A connection of a client that reads nothing by itself, with a small buffer of the kernel."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(10)
    sock.connect(("127.0.0.1", port))
    return context.wrap_socket(sock)


async def until_waiting(server: HttpServer, count: int) -> None:
    async with asyncio.timeout(10):
        while server.unread.responses + sum(server.unread.cuts.values()) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("path", ["/", "/stream"])
async def test_connections_of_a_user_that_reads_nothing_are_cut(files: Files, path: str) -> None:
    async with running(files, large, HttpSettings(linger_s=0.01, unread=LIMITS)) as served:
        opened = []
        for count in range(1, 11):
            opened.append(await asyncio.to_thread(unreading, served.port))
            opened[-1].send(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            await until_waiting(served.server, count)
        unread = served.server.unread
        assert unread.cuts["user"] >= 7
        assert unread.total_bytes <= LIMITS.megabytes_per_user * MB
        await asyncio.sleep(0.05)
        assert served.server.connection_count == unread.responses
        for sock in opened:
            sock.close()


@pytest.mark.parametrize("path", ["/", "/stream"])
async def test_streams_whose_window_is_closed_are_reset(files: Files, path: str) -> None:
    async with running(files, large, HttpSettings(linger_s=0.01, unread=LIMITS)) as served:
        sock = await asyncio.to_thread(unreading, served.port, "h2")
        client = H2Connection(H2Configuration(client_side=True))
        client.initiate_connection()
        client.update_settings({4: 0})
        head = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "a")]
        for stream in range(1, 21, 2):
            client.send_headers(stream, head, end_stream=True)
        sock.send(client.data_to_send())
        await until_waiting(served.server, 10)
        assert served.server.unread.total_bytes <= LIMITS.megabytes_per_connection * MB
        sock.settimeout(0.5)
        reset: list[int | None] = []
        while len(reset) < 9:
            events = client.receive_data(await asyncio.to_thread(sock.recv, 4096))
            reset += [each.stream_id for each in events if isinstance(each, StreamReset)]
            sock.send(client.data_to_send())
        assert reset == [1, 3, 5, 7, 9, 11, 13, 15, 17]
        sock.close()


async def test_a_few_bytes_now_and_then_do_not_extend_the_time_limit(files: Files) -> None:
    async with running(files, large, HttpSettings(linger_s=0.01, write_timeout_s=0.5)) as served:
        sock = await asyncio.to_thread(unreading, served.port, "h2")
        client = H2Connection(H2Configuration(client_side=True))
        client.initiate_connection()
        client.update_settings({4: 0})
        head = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "a")]
        client.send_headers(1, head, end_stream=True)
        reset = False
        async with asyncio.timeout(5):
            while not reset:
                client.increment_flow_control_window(10, 1)
                sock.send(client.data_to_send())
                await asyncio.sleep(0.1)
                events = client.receive_data(await asyncio.to_thread(sock.recv, 4096))
                reset = any(isinstance(each, StreamReset) for each in events)
        sock.close()


@pytest.mark.parametrize("sizes", [[], [5], [1, 2, 3, 4, 5, 6], [100, 1, 1], [1, 100], [10, 10, 10]], ids=str)
def test_slices_have_all_values_in_order_and_about_the_size(sizes: list[int]) -> None:
    found = [list(part) for part in slices(sizes, sizes, 10)]
    assert [size for part in found for size in part] == sizes
    assert all(sum(part[:-1]) < 10 for part in found)
    assert all(sum(part) >= 10 for part in found[:-1])


WITHOUT_METRICS = ("dashboard.py",)
"""Modules with a server that serves no metrics."""


def calls_of(name: str) -> Iterator[tuple[Path, ast.Call]]:
    for path in Path(sampan.__file__).parent.rglob("*.py"):
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if f"{name}(" in source else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield path, node


def test_every_server_counts_unread_responses_where_its_metrics_show_them() -> None:
    made = {path: call for path, call in calls_of("HttpServer") if path.name not in WITHOUT_METRICS}
    assert {path.name for path in made} >= {"up.py", "extension.py"}
    for path, call in made.items():
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert given.get("unread", "").endswith(".metrics.unread"), path
