"""Servers that ask each other instead of etcd read what was told before, whatever is late, and write as before."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from sampan.storage.etcd import EtcdSettings, EtcdStore, messages
from sampan.storage.etcd.told import PROMISE_S
from sampan.storage.store import KeyExists
from tests.storage.cached import key, pod, running
from tests.storage.etcd.late import delay_events
from tests.storage.etcd.server import Member
from tests.storage.etcd.test_peers import bound

DEADLINE_S = 30.0
SOON_S = 5.0
WAIT_S = 0.2
Pair = tuple[EtcdStore, EtcdStore]


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    found: list[socket.socket] = []
    yield found
    for sock in found:
        sock.close()


@pytest.fixture
async def pair(etcd: Member, sockets: list[socket.socket]) -> AsyncIterator[Pair]:
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


async def test_servers_that_ask_each_other_do_not_ask_etcd(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = pair
    monkeypatch.setattr(other._others, "_clock", lambda: 0.0)
    await other._others._look()

    async def asked(method: object, request: object) -> object:
        raise AssertionError("etcd was asked")

    monkeypatch.setattr(other._client, "ask", asked)
    for number in range(20):
        revision = await one.create(key(str(number)), pod(str(number)))
        assert await other.revision() >= revision


async def test_what_was_written_through_one_is_read_through_the_other_whose_events_come_late(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    async with running(other) as cache:
        delay_events(other, monkeypatch)
        for number in range(10):
            await one.create(key(str(number)), pod(str(number)))
            await cache.fresh()
            assert cache.get(key(str(number))) is not None


async def test_what_one_has_read_is_no_newer_than_what_the_other_reads_after_it(
    pair: Pair,
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
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    delay_events(other, monkeypatch)
    revision = await one.create(key("a"), pod("a"))
    await one.close()
    await other._others._look()
    assert other._others.promised() == 0
    assert await other.revision() >= revision


async def test_a_server_that_stands_still_holds_up_no_read(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def until_promised(store: EtcdStore) -> None:
    """The other one has promised to tell nothing new."""
    async with asyncio.timeout(DEADLINE_S):
        while store._others.promised() is None:
            await store.revision()
            await asyncio.sleep(0.005)


async def test_nobody_is_asked_while_the_other_has_promised_to_tell_nothing_new(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, other = pair
    await until_promised(other)
    monkeypatch.setattr(other._peers, "_clock", lambda: 0.0)
    for link in other._peers._links.values():
        assert link.line is not None
        monkeypatch.setattr(link.line, "trusted_until", 1.0)

    async def asked() -> int:
        raise AssertionError("somebody was asked")

    monkeypatch.setattr(other._newest, "_ask", asked)
    for _ in range(100):
        await other.revision()


async def test_what_is_written_is_told_after_the_promise_was_taken_back(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    async with running(other) as cache:
        delay_events(other, monkeypatch)
        for number in range(6):
            await until_promised(other)
            await one.create(key(str(number)), pod(str(number)))
            await cache.fresh()
            assert cache.get(key(str(number))) is not None


async def refused(store: EtcdStore, name: str) -> None:
    with pytest.raises(KeyExists):
        await store.create(name, pod("b"))


async def read(store: EtcdStore, name: str) -> None:
    assert await store.get(name) is not None


@pytest.mark.parametrize("learn", [refused, read])
async def test_what_etcd_answers_is_told_after_the_promise_was_taken_back(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, learn: Callable[[EtcdStore, str], Awaitable[None]]
) -> None:
    one, other = pair
    monkeypatch.setattr(one._follower._nudge, "reached", lambda _: 0)  # its own watches hear nothing
    async with running(other) as cache:
        delay_events(other, monkeypatch)
        for number in range(4):
            name = key(str(number))
            await until_promised(other)
            await one._client.ask(messages.PUT, messages.PutRequest(key=name.encode(), value=pod("a")))
            await learn(one, name)
            await cache.fresh()
            assert cache.get(name) is not None


async def test_a_server_that_hangs_with_a_promise_delays_a_write_for_no_longer_than_that(pair: Pair) -> None:
    one, other = pair
    revision = await one.create(key("a"), pod("a"))
    for _ in range(5):
        await until_promised(other)
        assert one._listener is not None
        for transport in one._listener.connections:
            transport.pause_reading()
        now = asyncio.get_running_loop().time
        began = now()
        revision = await one.update(key("a"), pod("b"), revision)
        assert now() - began < PROMISE_S + SOON_S
        for transport in one._listener.connections:
            transport.resume_reading()


async def test_both_read_what_either_wrote_last(pair: Pair) -> None:
    stores = list(pair)
    revision = await stores[0].create(key("a"), pod("0"))
    for number in range(60):
        revision = await stores[number % 2].update(key("a"), pod(str(number)), revision)
        for store in stores:
            assert await store.revision() >= revision
        await asyncio.sleep(0.02 * (number % 4))
