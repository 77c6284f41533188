"""Servers on one etcd ask each other how far they are: answers are right, or there are none."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest

from sampan.storage.etcd import EtcdSettings, EtcdStore, peers
from sampan.storage.etcd.peers import Listener, Peers, Place
from sampan.storage.store import StoreEvent
from tests.storage.cached import key, pod, running
from tests.storage.etcd.server import Member

DEADLINE_S = 30.0
SOON_S = 5.0
LATE_S = 0.1
WAIT_S = 0.2
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
        self.listener = Listener(sock, self.place, told or self._told)

    def _told(self) -> int:
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
async def asking(*rows: bytes, patience_s: float = SOON_S) -> AsyncIterator[Peers]:
    asker = Peers(patience_s)
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
            back.write(await reader.readexactly(24))  # a question and its answer
            answer = await ahead.readexactly(32)
            writer.write(answer[:15] + bytes([answer[15] ^ 1]) + answer[16:])
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


# --- stores that ask each other


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    found: list[socket.socket] = []
    yield found
    for sock in found:
        sock.close()


@pytest.fixture
async def pair(etcd: Member, sockets: list[socket.socket]) -> AsyncIterator[tuple[EtcdStore, EtcdStore]]:
    """Two stores that know each other, and ask each other."""

    def listen() -> tuple[socket.socket, str]:
        sockets.append(bound())
        return sockets[-1], "127.0.0.1"

    stores = [EtcdStore(EtcdSettings((etcd.url,), entry_wait_s=WAIT_S), listen=listen) for _ in range(2)]
    for store in stores:
        await store.open()
        store._peers._patience_s = SOON_S
    for number, store in enumerate(stores):
        await store.create(key(f"first-{number}"), pod(str(number)))
    async with asyncio.timeout(DEADLINE_S):
        for store in stores:
            while not (store._others.known and store._others._rows and await store._peers.ask() is not None):
                await store.revision()
                await asyncio.sleep(0.01)
    yield stores[0], stores[1]
    for store in stores:
        await store.close()


async def test_servers_that_ask_each_other_do_not_ask_etcd(
    pair: tuple[EtcdStore, EtcdStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    monkeypatch.setattr(other._others, "_clock", lambda: 0.0)
    await other._others._look()

    async def asked(method: object, request: object) -> object:
        raise AssertionError("etcd was asked")

    monkeypatch.setattr(other._client, "ask", asked)
    for number in range(20):
        revision = await one.create(key(str(number)), pod(str(number)))
        assert await other.revision() >= revision


def delay_events(store: EtcdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What etcd writes comes to the store's watches later than it could."""
    dispatch, loop = store._hub.dispatch, asyncio.get_running_loop()

    def now(events: Sequence[StoreEvent], revision: int) -> None:
        dispatch(events, revision)
        store._follower._answer_waiters()

    def later(events: Sequence[StoreEvent], revision: int) -> None:
        loop.call_later(LATE_S, now, events, revision)

    monkeypatch.setattr(store._hub, "dispatch", later)


async def test_what_was_written_through_one_is_read_through_the_other_whose_events_come_late(
    pair: tuple[EtcdStore, EtcdStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    async with running(other) as cache:
        delay_events(other, monkeypatch)
        for number in range(10):
            await one.create(key(str(number)), pod(str(number)))
            await cache.fresh()
            assert cache.get(key(str(number))) is not None


async def test_what_one_has_read_is_no_newer_than_what_the_other_reads_after_it(
    pair: tuple[EtcdStore, EtcdStore],
) -> None:
    one, other = pair
    writing = asyncio.create_task(_write(one, 50))
    while not writing.done():
        async with asyncio.timeout(DEADLINE_S):
            first = await one.revision()
            assert await other.revision() >= first
            second = await other.revision()
            assert await one.revision() >= second
    await writing


async def test_what_a_server_wrote_that_has_left_is_read_though_its_events_come_late(
    pair: tuple[EtcdStore, EtcdStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    delay_events(other, monkeypatch)
    revision = await one.create(key("a"), pod("a"))
    await one.close()
    await other._others._look()
    assert other._others.alone()
    assert await other.revision() >= revision


async def test_a_server_that_stands_still_holds_up_no_read(
    pair: tuple[EtcdStore, EtcdStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    other._peers._patience_s = 0.01
    assert one._listener is not None
    for transport in one._listener.connections:
        transport.pause_reading()
    revision = await one.create(key("a"), pod("a"))
    now = asyncio.get_running_loop().time
    began = now()
    for _ in range(20):
        assert await other.revision() >= revision
    assert now() - began < SOON_S


async def _write(store: EtcdStore, times: int) -> None:
    revision = await store.create(key("written"), pod("0"))
    for number in range(times):
        revision = await store.update(key("written"), pod(str(number)), revision)
