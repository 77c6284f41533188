"""Several servers on one etcd: a read through any of them shows what was acknowledged through another."""

import asyncio

import pytest

from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import KeyExists
from tests.storage.cached import PODS, key, pod, running
from tests.storage.etcd.conftest import OpenStore
from tests.storage.etcd.late import delay_events

DEADLINE_S = 10.0


async def test_a_write_through_one_server_is_read_through_another_whose_events_come_late(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await open_store(), await open_store()
    async with running(other) as cache:
        delay_events(other, monkeypatch)
        for number in range(10):
            await one.create(key(str(number)), pod(str(number)))
            await cache.fresh()
            assert cache.get(key(str(number))) is not None


async def test_a_read_is_never_older_than_an_earlier_read_through_another_server(open_store: OpenStore) -> None:
    one, other = await open_store(), await open_store()
    writing = asyncio.create_task(_write(one, 50))
    while not writing.done():
        async with asyncio.timeout(DEADLINE_S):
            first = await one.revision()
            assert await other.revision() >= first
            second = await other.revision()
            assert await one.revision() >= second
    await writing


async def test_writes_of_short_lived_servers_are_read_at_once(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store()
    async with running(store) as cache:
        delay_events(store, monkeypatch)
        for number in range(6):
            other = await open_store()
            revision = await other.create(key(str(number)), pod(str(number)))
            await other.close()
            assert await cache.fresh() >= revision
            assert len(cache.list(PODS).records) == number + 1


async def test_an_object_that_a_conflict_revealed_is_read_after_it(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store()
    async with running(store) as cache:
        delay_events(store, monkeypatch)
        name = key("a").encode()
        await store._client.call(messages.PUT, messages.PutRequest(key=name, value=pod("a")))
        with pytest.raises(KeyExists):
            await store.create(key("a"), pod("a"))
        await cache.fresh()
        assert cache.get(key("a")) is not None


async def test_both_servers_read_what_either_wrote_last(open_store: OpenStore) -> None:
    stores = [await open_store(), await open_store()]
    revision = await stores[0].create(key("a"), pod("0"))
    for number in range(60):
        revision = await stores[number % 2].update(key("a"), pod(str(number)), revision)
        for store in stores:
            assert await store.revision() >= revision


async def test_a_watch_from_before_a_write_outside_the_prefix_starts_at_once(open_store: OpenStore) -> None:
    store = await open_store()
    foreign = messages.PutRequest(key=b"/elsewhere")
    await store._client.call(messages.PUT, foreign)
    revision = await store.create(key("a"), pod("a"))
    await store._client.call(messages.PUT, foreign)
    async with running(store) as cache, asyncio.timeout(DEADLINE_S), cache.watch(PODS, after=revision) as watcher:
        later = await store.create(key("b"), pod("b"))
        batch = await watcher.next()
    assert [delivery[1].revision for delivery in batch.events] == [later]


async def _write(store: EtcdStore, times: int) -> None:
    for number in range(times):
        await store.create(key(str(number)), pod(str(number)))
