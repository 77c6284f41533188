"""Events of own writes come from etcd's answers; while there are many, and no others, without a watch of etcd."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sampan.storage.etcd import EtcdSettings, EtcdStore, follower, messages
from sampan.storage.etcd.answers import MANY, MANY_S, Answers
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.store import KeyValue, Revision, StoreEvent, prefix_end
from tests.storage.etcd.conftest import OpenStore
from tests.storage.etcd.server import Member, etcd_binary, leaves_out_fsync

PODS = "/registry/pods/"
DEADLINE_S = 20.0
WRITERS = 16


def event(revision: int) -> StoreEvent:
    return StoreEvent(revision, f"{PODS}{revision}", b"", None)


def key(name: object) -> str:
    return f"{PODS}ns/{name}"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("known", "reached"), [((), 5), ((7,), 5), ((6,), 6), ((6, 8), 6), ((8, 6, 7, 10), 8)])
def test_answers_reach_to_the_first_that_is_missing(known: tuple[int, ...], reached: int) -> None:
    answers = Answers(Clock())
    for revision in known:
        answers.add(event(revision))
    assert answers.reach(5) == reached
    assert [taken.revision for taken in answers.take(5, reached)] == list(range(6, reached + 1))
    assert answers.reach(5) == 5


def test_what_was_handed_on_otherwise_is_forgotten() -> None:
    answers = Answers(Clock())
    for revision in (6, 7, 9):
        answers.add(event(revision))
    answers.forget(7)
    assert answers.reach(5) == 5
    assert answers.reach(8) == 9


@pytest.mark.parametrize(("pause_s", "often"), [(0.8 * MANY_S / MANY, True), (1.2 * MANY_S / MANY, False)])
def test_answers_are_often_when_there_are_many_in_a_short_time(pause_s: float, often: bool) -> None:
    clock = Clock()
    answers = Answers(clock)
    for revision in range(3 * MANY):
        clock.now += pause_s
        answers.add(event(revision))
    assert answers.often.is_set() == often


async def until_watches(etcd: Member, number: int, stores: int = 1) -> None:
    """So many watches of objects. Each store that is open watches how far etcd is compacted besides."""
    async with asyncio.timeout(DEADLINE_S):
        while await asyncio.to_thread(etcd.watches) != number + stores:  # noqa: ASYNC110 - etcd tells nobody
            await asyncio.sleep(0.01)


@asynccontextmanager
async def busy(store: EtcdStore) -> AsyncIterator[None]:
    """The store writes as often as it can, until the context ends."""

    async def write(writer: int) -> None:
        revision = await store.create(key(f"busy-{writer}"), b"0")
        while not over.is_set():
            revision = await store.update(key(f"busy-{writer}"), b"1", revision)

    over = asyncio.Event()
    writers = [asyncio.create_task(write(writer)) for writer in range(WRITERS)]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*writers)


async def put(etcd: Member, name: str) -> Revision:
    """Somebody else, who is not known, writes to the same etcd."""
    client = EtcdClient(EtcdSettings((etcd.url,)))
    answer = await client.ask(messages.PUT, messages.PutRequest(key=key(name).encode(), value=b"foreign"))
    await client.close()
    return Revision(answer.header.revision)


async def test_a_store_that_writes_much_and_alone_watches_etcd_no_more_until_it_writes_less(
    etcd: Member, open_store: OpenStore
) -> None:
    store = await open_store()
    await until_watches(etcd, 1)
    async with busy(store):
        await until_watches(etcd, 0)
    await until_watches(etcd, 1)


async def test_a_store_that_writes_much_beside_others_watches_etcd(
    etcd: Member, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store()
    async with busy(store):
        await until_watches(etcd, 0)
        other = await open_store()
        await other.create(key("other"), b"")
        await until_watches(etcd, 2, stores=2)
        await asyncio.sleep(2 * MANY_S)
        assert await asyncio.to_thread(etcd.watches) == 4


async def test_what_somebody_unknown_writes_is_seen_though_there_is_no_watch(
    etcd: Member, open_store: OpenStore
) -> None:
    store = await open_store()
    async with store.watch(PODS, prefix_end(PODS), await store.revision()) as watch, busy(store):
        await until_watches(etcd, 0)
        revision = await put(etcd, "foreign")
        async with asyncio.timeout(DEADLINE_S):
            seen = [event.revision async for event in _until(watch, revision)]
    assert seen[-1] == revision


async def test_what_somebody_unknown_writes_last_is_seen_too(etcd: Member, open_store: OpenStore) -> None:
    store = await open_store()
    async with store.watch(PODS, prefix_end(PODS), await store.revision()) as watch:
        async with busy(store):
            await until_watches(etcd, 0)
        revision = await put(etcd, "foreign")
        async with asyncio.timeout(DEADLINE_S):
            seen = [event.revision async for event in _until(watch, revision)]
    assert seen[-1] == revision


async def test_events_from_answers_are_those_that_etcd_tells(
    etcd: Member, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All kinds of writes, by several at once, and by somebody else too, with and without a watch."""
    monkeypatch.setattr(follower, "_WATCH_S", 0.2)
    store = await open_store()
    begin = await store.revision()
    chance = random.Random(7)

    async def write(writer: int) -> None:
        rows: dict[str, KeyValue | None] = {key(f"{writer}-{number}"): None for number in range(5)}
        for number in range(150):
            name = chance.choice(list(rows))
            row, value = rows[name], f"{writer} {number}".encode()
            if row is None:
                revision = await store.create(name, value, ttl_s=chance.choice([0, 0, 600]))
            elif chance.random() < 0.3:
                await store.delete(name, row.mod_revision)
                rows[name] = None
                continue
            else:
                revision = await store.update(name, value, row.mod_revision)
            rows[name] = KeyValue(name, value, 0, revision)

    async def interfere() -> None:
        for number in range(4):
            await asyncio.sleep(chance.uniform(0.1, 0.3))
            await put(etcd, f"foreign-{number}")

    async with store.watch(PODS, prefix_end(PODS), begin) as watch:
        await asyncio.gather(*(write(writer) for writer in range(WRITERS)), interfere())
        end = await put(etcd, "end")
        async with asyncio.timeout(DEADLINE_S):
            seen = [event async for event in _until(watch, end)]
    if leaves_out_fsync(etcd_binary() or ""):  # else the watch is mostly faster than so many answers
        assert store._follower._answers.count > 1000
    assert seen == [event async for event in _history(etcd, begin, end)]


async def _until(watch: AsyncIterator[object], revision: int) -> AsyncIterator[StoreEvent]:
    async for batch in watch:
        for event in batch.events:  # type: ignore[attr-defined]
            yield event
            if event.revision >= revision:
                return


async def _history(etcd: Member, after: int, until: int) -> AsyncIterator[StoreEvent]:
    """What etcd itself tells of a time that is over."""
    fresh = EtcdStore(EtcdSettings((etcd.url,)))
    await fresh.open()
    try:
        async with fresh.watch(PODS, prefix_end(PODS), after) as watch:
            async for event in _until(watch, until):
                yield event
    finally:
        await fresh.close()
