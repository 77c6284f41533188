"""Servers on one etcd ask each other how far they are: answers are right, or there are none."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from sampan.core.seconds import seconds
from sampan.storage.etcd import peers
from sampan.storage.etcd.peers import Listener, Peers, Place
from sampan.storage.etcd.told import Told

DEADLINE_S = 30.0
SOON_S = 5.0
SECRET = b"s" * 32


def bound() -> socket.socket:
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    return sock


class Server:
    """One that is asked."""

    def __init__(self, secret: bytes = SECRET, told: Callable[[], int] | None = None) -> None:
        self.revision = 0
        self.times = 0
        sock = bound()
        self.place = Place("127.0.0.1", sock.getsockname()[1], secret)
        self.told = Told()
        self.listener = Listener(sock, self.place, told or self._newest, self.told)

    def _newest(self) -> int:
        self.times += 1
        return self.revision


@asynccontextmanager
async def listening(*servers: Server) -> AsyncIterator[None]:
    for server in servers:
        await server.listener.start()
    try:
        yield
    finally:
        for server in servers:
            server.listener.close()


@asynccontextmanager
async def asking(
    *rows: bytes, patience_s: float = SOON_S, clock: Callable[[], float] = seconds
) -> AsyncIterator[Peers]:
    asker = Peers(patience_s, clock)
    asker.keep(rows)
    try:
        yield asker
    finally:
        asker.close()


async def answered(asker: Peers) -> int:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            newest = await asker.ask()
            if newest is not None:
                return newest
            await asyncio.sleep(0.01)


async def unanswered(asker: Peers) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            if await asker.ask() is None:
                return
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("row", [b"", b"{}", b"[]", b"1", b"\xff", b'{"host": "a", "port": "b", "secret": ""}'])
def test_a_row_that_says_nothing_is_no_place(row: bytes) -> None:
    assert Place.of(row) is None


def test_a_place_is_in_its_row() -> None:
    place = Place("fd00::1", 4000, SECRET)
    assert Place.of(place.row()) == place


async def test_the_newest_revision_of_all_others_is_the_answer() -> None:
    servers = [Server(), Server(), Server()]
    for number, server in enumerate(servers):
        server.revision = 10 + number % 2
    async with listening(*servers), asking(*(server.place.row() for server in servers)) as asker:
        assert await answered(asker) == 11
        servers[2].revision = 12
        assert await asker.ask() == 12


async def test_who_has_no_others_has_the_answer() -> None:
    async with asking() as asker:
        assert await asker.ask() == 0


async def test_one_that_cannot_be_asked_leaves_no_answer() -> None:
    server = Server()
    async with listening(server), asking(server.place.row(), b"") as asker:
        for _ in range(20):
            assert await asker.ask() is None
            await asyncio.sleep(0.01)
        asker.keep([server.place.row()])
        assert await answered(asker) == 0


async def test_one_that_answers_late_is_not_waited_for_until_it_has_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    async with listening(server), asking(server.place.row(), patience_s=0.05) as asker:
        await answered(asker)
        [transport] = server.listener.connections
        transport.pause_reading()
        assert await asker.ask() is None
        server.revision = 7
        times = server.times
        now = asyncio.get_running_loop().time
        began = now()
        for _ in range(100):
            assert await asker.ask() is None
        assert now() - began < 100 * 0.05
        transport.resume_reading()
        assert await answered(asker) == 7
        assert server.times < times + 100


async def test_a_late_answer_is_not_taken_for_that_to_a_later_question() -> None:
    server = Server()
    async with listening(server), asking(server.place.row(), patience_s=0.2) as asker:
        await answered(asker)
        number = asker._number
        question = asyncio.create_task(asker.ask())
        await asyncio.sleep(0)
        asker._told(number, 99)
        assert await question == 0


async def test_who_is_silent_for_long_is_connected_to_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "SILENCE_MAX_S", 0.1)
    server = Server()
    async with listening(server), asking(server.place.row(), patience_s=0.05) as asker:
        await answered(asker)
        [first] = server.listener.connections
        first.pause_reading()
        assert await asker.ask() is None
        server.revision = 3
        assert await answered(asker) == 3
        assert server.listener.connections - {first}
        first.abort()


async def test_a_server_that_comes_back_is_asked_again() -> None:
    server = Server()
    async with asking(server.place.row()) as asker:
        async with listening(server):
            await answered(asker)
        await unanswered(asker)
        again = Server()
        again.listener._sock.close()
        again.listener._sock = socket.create_server((server.place.host, server.place.port))
        again.revision = 5
        async with listening(again):
            assert await answered(asker) == 5


async def test_another_server_at_the_same_place_is_not_believed() -> None:
    other = Server(secret=b"o" * 32)
    async with listening(other), asking(Place("127.0.0.1", other.place.port, SECRET).row()) as asker:
        for _ in range(30):
            assert await asker.ask() is None
            await asyncio.sleep(0.01)
    assert not other.times


async def test_an_answer_that_was_changed_on_the_way_is_not_believed() -> None:
    server = Server()
    server.revision = 9

    over = asyncio.Event()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ahead, back = await asyncio.open_connection("127.0.0.1", server.place.port)
        over.clear()
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            back.write(await reader.readexactly(16))  # the nonces
            writer.write(await ahead.readexactly(16))
            back.write(await reader.readexactly(33))  # a question and its answer
            answer = await ahead.readexactly(33)
            writer.write(answer[:16] + bytes([answer[16] ^ 1]) + answer[17:])
            assert not await reader.read()
        for end in (back, writer):
            end.close()
            with suppress(ConnectionError):
                await end.wait_closed()
        over.set()

    between = await asyncio.start_server(relay, "127.0.0.1", 0)
    port = between.sockets[0].getsockname()[1]
    async with listening(server), asking(Place("127.0.0.1", port, SECRET).row()) as asker:
        for _ in range(30):
            assert await asker.ask() is None
            await asyncio.sleep(0.01)
        between.close()
        await between.wait_closed()
    assert server.times
    async with asyncio.timeout(DEADLINE_S):
        await over.wait()


@pytest.mark.parametrize("said", [b"", b"x" * 16, b"x" * 100, b"GET / HTTP/1.1\r\n\r\n" * 10])
async def test_who_does_not_know_the_secret_is_told_nothing(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "CONNECT_S", 0.1)
    server = Server()
    async with listening(server), asyncio.timeout(DEADLINE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.place.port)
        writer.write(said)
        try:
            got = await reader.read()
        except ConnectionResetError:
            got = b""
        assert len(got) <= 16
        assert not server.times
        writer.close()


async def test_more_connections_than_can_be_of_use_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "CONNECTIONS_MAX", 1)
    server = Server()
    async with listening(server), asking(server.place.row()) as first:
        await answered(first)
        async with asking(server.place.row()) as second:
            for _ in range(20):
                assert await second.ask() is None
                await asyncio.sleep(0.01)
        assert await answered(first) == 0
