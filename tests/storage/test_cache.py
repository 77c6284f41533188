"""The watch cache: reads."""

import asyncio
import logging

import pytest

from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode, extractor, respliced_record
from sampan.storage.memory import MemoryStore
from sampan.storage.records import Page
from sampan.storage.store import Compacted, FutureRevision, Store
from tests.storage.cached import PODS, app_is_x, key, pod, running
from tests.storage.conftest import AnyStore


def names(page: Page) -> list[str]:
    return [record.name for record in page.records]


async def three(store: Store) -> None:
    """2: a/1 (x), 3: a/2 (y), 4: b/3 (x)."""
    await store.create(key("1"), pod("1"))
    await store.create(key("2"), pod("2", app="y"))
    await store.create(key("3", "b"), pod("3", "b"))


async def test_a_cache_starts_with_what_is_stored(store: AnyStore) -> None:
    await three(store)
    async with running(store) as cache:
        assert (names(cache.list(PODS)), cache.revision, len(cache)) == (["1", "2", "3"], 4, 3)


async def test_a_cache_is_not_ready_before_it_runs() -> None:
    cache = WatchCache(MemoryStore(), PODS, extractor(), respliced_record)
    assert not cache.ready
    assert not await cache.wait_ready(0.001)


async def test_a_stopped_cache_is_not_ready(store: AnyStore) -> None:
    async with running(store) as cache:
        assert cache.ready
    assert not cache.ready


async def test_a_read_after_fresh_sees_every_acknowledged_write(store: AnyStore) -> None:
    async with running(store) as cache:
        for number in range(50):
            revision = await store.create(key(str(number)), pod(str(number)))
            assert await cache.fresh() == revision
            record = cache.get(key(str(number)))
            assert record is not None
            assert record.revision == revision


async def test_concurrent_writers_read_their_own_writes(store: AnyStore) -> None:
    async def write(cache: WatchCache, name: str) -> None:
        revision = await store.create(key(name), pod(name))
        await cache.fresh()
        record = cache.get(key(name))
        assert record is not None
        assert record.revision == revision

    async with running(store) as cache:
        await asyncio.gather(*(write(cache, str(number)) for number in range(100)))


async def test_fresh_follows_writes_to_other_resources(store: AnyStore) -> None:
    async with running(store) as cache:
        revision = await store.create("/registry/nodes/n", b"{}")
        assert await cache.fresh() == revision


async def test_a_record_carries_its_revision_in_its_bytes(store: AnyStore) -> None:
    async with running(store) as cache:
        revision = await store.create(key("1"), pod("1"))
        await cache.fresh()
        record = cache.get(key("1"))
    assert record is not None
    assert decode(record.value)["metadata"]["resourceVersion"] == str(revision)


async def test_a_deleted_object_is_gone(store: AnyStore) -> None:
    async with running(store) as cache:
        await store.delete(key("1"), await store.create(key("1"), pod("1")))
        await cache.fresh()
        assert cache.get(key("1")) is None
        assert names(cache.list(PODS)) == []


async def test_wait_for_a_revision_that_comes(store: AnyStore) -> None:
    async with running(store) as cache:
        waiting = asyncio.create_task(cache.wait_for(3))
        await three(store)
        await waiting
        assert cache.revision >= 3


async def test_all_waits_are_counted_including_those_that_time_out(store: AnyStore) -> None:
    async with running(store) as cache:
        await cache.wait_for(1)
        waiting = asyncio.create_task(cache.wait_for(2))
        await asyncio.sleep(0)
        await store.create(key("1"), pod("1"))
        await waiting
        with pytest.raises(FutureRevision):
            await cache.wait_for(3, timeout_s=0.001)
        assert cache.counts.waits.totals() == {(): 2}


async def test_wait_for_a_revision_that_does_not_come_is_of_the_future(store: AnyStore) -> None:
    async with running(store) as cache:
        with pytest.raises(FutureRevision) as error:
            await cache.wait_for(9, 0.03)
    assert (error.value.revision, error.value.current_revision) == (9, 1)


async def test_a_list_of_one_namespace(store: AnyStore) -> None:
    await three(store)
    await store.create(key("4", "ab"), pod("4", "ab"))
    async with running(store) as cache:
        assert names(cache.list(PODS + "a/")) == ["1", "2"]


async def test_a_list_with_a_selector_has_no_remaining_count(store: AnyStore) -> None:
    await three(store)
    async with running(store) as cache:
        page = cache.list(PODS, matches=app_is_x)
    assert (names(page), page.more, page.remaining) == (["1", "3"], False, None)


async def test_pages_go_on_after_a_key_and_count_what_remains(store: AnyStore) -> None:
    await three(store)
    async with running(store) as cache:
        first = cache.list(PODS, limit=2)
        second = cache.list(PODS, limit=2, after_key=first.records[-1].key)
    assert (names(first), first.more, first.remaining) == (["1", "2"], True, 1)
    assert (names(second), second.more, second.remaining) == (["3"], False, 0)


async def test_pages_with_a_selector_count_matches(store: AnyStore) -> None:
    await three(store)
    async with running(store) as cache:
        first = cache.list(PODS, limit=1, matches=app_is_x)
        second = cache.list(PODS, limit=1, after_key=first.records[-1].key, matches=app_is_x)
    assert (names(first), first.more) == (["1"], True)
    assert (names(second), second.more) == (["3"], False)


async def test_a_page_of_a_namespace_does_not_run_into_the_next(store: AnyStore) -> None:
    await three(store)
    async with running(store) as cache:
        page = cache.list(PODS + "a/", limit=5, after_key=key("1"))
    assert (names(page), page.more, page.remaining) == (["2"], False, 0)


async def test_repeated_lists_of_a_quiet_namespace_are_the_same_list(store: AnyStore) -> None:
    await three(store)
    async with running(store) as cache:
        before = cache.list(PODS + "a/").records
        await store.create(key("9", "b"), pod("9", "b"))
        await cache.fresh()
        assert cache.list(PODS + "a/").records is before
        await store.create(key("9"), pod("9"))
        await cache.fresh()
        assert cache.list(PODS + "a/").records is not before
    assert [record.name for record in before] == ["1", "2"]


@pytest.mark.parametrize("events_max", [100_000, 1], ids=["from the cache", "from the store"])
@pytest.mark.parametrize(
    ("revision", "expected"), [(1, []), (2, ["1"]), (3, ["1", "2"]), (5, ["2", "3"]), (6, ["2", "3"])]
)
async def test_a_list_at_a_revision_shows_the_state_then(
    store: AnyStore, events_max: int, revision: int, expected: list[str]
) -> None:
    async with running(store, events_min=1, events_max=events_max) as cache:
        await three(store)
        await store.delete(key("1"), 2)
        await store.create("/registry/nodes/n", b"{}")
        page = await cache.list_at(revision, PODS)
        assert (names(page), page.revision, page.remaining) == (expected, revision, 0)


@pytest.mark.parametrize("events_max", [100_000, 1], ids=["from the cache", "from the store"])
async def test_pages_at_a_revision_count_matches(store: AnyStore, events_max: int) -> None:
    async with running(store, events_min=1, events_max=events_max) as cache:
        await three(store)
        await store.delete(key("3", "b"), 4)
        first = await cache.list_at(4, PODS, limit=1, matches=app_is_x)
        second = await cache.list_at(4, PODS, limit=1, after_key=first.records[-1].key, matches=app_is_x)
        plain = await cache.list_at(4, PODS, limit=1, after_key=key("1"))
    assert (names(first), first.more) == (["1"], True)
    assert (names(second), second.more) == (["3"], False)
    assert (names(plain), plain.more, plain.remaining) == (["2"], True, 1)


async def test_a_list_of_the_future_is_refused(store: AnyStore) -> None:
    async with running(store) as cache:
        with pytest.raises(FutureRevision):
            await cache.list_at(99, PODS)


async def test_a_list_of_a_compacted_revision_is_refused(store: AnyStore) -> None:
    await three(store)
    async with running(store) as cache:
        await store.compact(4)
        with pytest.raises(Compacted):
            await cache.list_at(2, PODS)


async def test_a_compacted_revision_is_not_listed_from_memory(store: AnyStore) -> None:
    async with running(store) as cache:
        await three(store)
        assert names(await cache.list_at(3, PODS)) == ["1", "2"]
        await store.compact(4)
        with pytest.raises(Compacted) as error:
            await cache.list_at(3, PODS)
        assert names(await cache.list_at(4, PODS)) == ["1", "2", "3"]
    assert error.value.compact_revision == 4


async def test_a_row_that_cannot_be_read_does_not_stop_the_rest(
    store: AnyStore, caplog: pytest.LogCaptureFixture
) -> None:
    await store.create(key("bad"), b"{")
    with caplog.at_level(logging.ERROR):
        async with running(store) as cache:
            await store.create(key("worse"), b"]")
            await store.create(key("1"), pod("1"))
            await cache.fresh()
            await store.delete(key("worse"), 3)
            await cache.fresh()
            assert names(cache.list(PODS)) == ["1"]
    assert "cannot read the value of /registry/pods/a/bad at revision 2" in caplog.text


class Clocked:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_history_keeps_the_window_and_a_minimum() -> None:
    store, clock = MemoryStore(), Clocked()
    async with running(store, history_window_s=75, events_min=2, clock=clock) as cache:
        await three(store)
        await cache.fresh()
        clock.now = 75.0
        await store.update(key("1"), pod("1"), 2)
        await cache.fresh()
        assert len(cache.ring) == 4
        clock.now = 75.1
        await store.update(key("1"), pod("1"), 5)
        await cache.fresh()
        assert (len(cache.ring), cache.ring.reaches) == (2, 4)
