"""The watch cache: watches."""

import asyncio
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from sampan.storage import wakes
from sampan.storage.cache import WatchCache
from sampan.storage.encoding import decode
from sampan.storage.memory import MemoryStore
from sampan.storage.records import CacheReset, Delivery, Record, WatcherTooSlow
from sampan.storage.store import Compacted, EventBatch
from tests.storage.cached import PODS, app_is_x, key, pod, running, shape, take
from tests.storage.conftest import AnyStore


async def test_a_watch_begins_with_the_present_and_goes_on_live(store: AnyStore) -> None:
    await store.create(key("1"), pod("1"))
    async with running(store) as cache, cache.watch(PODS) as watcher:
        assert shape(await take(watcher)) == [("ADDED", "1", 2)]
        await store.create(key("2"), pod("2"))
        assert shape(await take(watcher)) == [("ADDED", "2", 3)]


async def test_the_present_comes_at_the_caches_revision(store: AnyStore) -> None:
    await store.create(key("1"), pod("1"))
    revision = await store.create("/registry/nodes/n", b"{}")
    async with running(store) as cache, cache.watch(PODS, after=1, initial=True) as watcher:
        assert (await take(watcher)).revision == revision


async def test_a_watch_of_nothing_present_waits(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS) as watcher:
        assert (await watcher.next(0.001)).events == []


async def test_a_prompt_watch_is_notified_of_each_write_at_once(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1, prompt=True) as watcher:
        for number in range(5):
            taker = asyncio.create_task(watcher.next())
            await asyncio.sleep(0)
            await store.create(key(str(number)), pod(str(number)))
            await cache.fresh()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert taker.done(), number
            await taker


async def test_events_that_come_one_soon_after_the_other_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakes, "_QUIET_S", 60.0)
    monkeypatch.setattr(wakes, "_EACH_S", 60.0)
    monkeypatch.setattr(wakes, "WAKE_INTERVAL_S", 1.0)
    monkeypatch.setattr(wakes, "_GATHER_S", 1.0)
    store = MemoryStore()
    await store.open()
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        await store.create(key("0"), pod("0"))
        await take(watcher)
        taker = asyncio.create_task(take(watcher))
        for name in ("1", "2"):
            await asyncio.sleep(0.02)
            await store.create(key(name), pod(name))
        assert len((await taker).events) == 2


async def test_events_that_never_cease_are_reported_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakes, "_QUIET_S", 60.0)
    monkeypatch.setattr(wakes, "_EACH_S", 60.0)
    monkeypatch.setattr(wakes, "WAKE_INTERVAL_S", 0.5)
    monkeypatch.setattr(wakes, "_GATHER_S", 0.5)
    store = MemoryStore()
    await store.open()
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        await store.create(key("first"), pod("first"))
        await take(watcher)
        taker = asyncio.create_task(watcher.next(60))
        await asyncio.sleep(0.01)
        for number in range(900):
            await store.create(key(str(number)), pod(str(number)))
            await asyncio.sleep(0.001)
            if taker.done():
                break
        assert taker.done()
        assert (await taker).events


async def test_a_single_watcher_receives_events_soon_though_it_was_reported_just_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wakes, "WAKE_INTERVAL_S", 60.0)
    monkeypatch.setattr(wakes, "_QUIET_S", 60.0)
    store = MemoryStore()
    await store.open()
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher, asyncio.timeout(30):
        for name in ("0", "1", "2"):
            await store.create(key(name), pod(name))
            assert len((await take(watcher)).events) == 1


async def test_the_whole_life_of_an_object(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        await store.create(key("1"), pod("1"))
        await store.update(key("1"), pod("1", app="y"), 2)
        await store.delete(key("1"), 3)
        batch = await take(watcher)
    assert shape(batch) == [("ADDED", "1", 2), ("MODIFIED", "1", 3), ("DELETED", "1", 4)]
    last = batch.events[-1][1]
    assert decode(last.record.value)["metadata"]["resourceVersion"] == "4"
    assert last.previous is not None
    assert last.previous.revision == 3


async def test_a_selector_turns_changes_into_additions_and_deletions(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1, matches=app_is_x) as watcher:
        revision = await store.create(key("1"), pod("1", app="y"))
        for app in ("x", "x", "y", "y", "x"):
            revision = await store.update(key("1"), pod("1", app=app), revision)
        await store.delete(key("1"), revision)
        batch = await take(watcher)
    assert shape(batch) == [
        ("ADDED", "1", 3),
        ("MODIFIED", "1", 4),
        ("DELETED", "1", 5),
        ("ADDED", "1", 7),
        ("DELETED", "1", 8),
    ]
    gone = decode(batch.events[2][1].record.value)["metadata"]
    assert (gone["labels"], gone["resourceVersion"]) == ({"app": "x"}, "5")


async def test_a_deletion_of_what_never_matched_is_not_reported(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1, matches=app_is_x) as watcher:
        await store.delete(key("1"), await store.create(key("1"), pod("1", app="y")))
        assert (await watcher.next(0.001)).events == []


@pytest.mark.parametrize(("after", "expected"), [(1, [2, 3, 4]), (2, [3, 4]), (3, [4]), (4, [])])
async def test_a_watch_resumes_after_a_revision(store: AnyStore, after: int, expected: list[int]) -> None:
    async with running(store) as cache:
        for name in ("1", "2", "3"):
            await store.create(key(name), pod(name))
        async with cache.watch(PODS, after=after) as watcher:
            assert [revision for _, _, revision in shape(await watcher.next(0.001))] == expected


async def test_a_watch_after_a_revision_of_the_future_begins_there(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=3) as watcher:
        assert (await watcher.next(0)).revision == 3
        for name in ("1", "2", "3", "4"):
            await store.create(key(name), pod(name))
        assert [revision for _, _, revision in shape(await take(watcher))] == [4, 5]


@pytest.mark.parametrize("engine", ["memory", "sqlite"])  # etcd sends the events of a burst one by one
async def test_a_burst_does_not_make_a_waiting_watcher_slow(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1, buffer_max=5) as watcher:
        await asyncio.gather(*(store.create(key(str(number)), pod(str(number))) for number in range(20)))
        observed = 0
        while observed < 20:
            observed += len((await take(watcher)).events)


async def test_a_watch_of_a_namespace(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS + "a/", after=1) as watcher:
        await store.create(key("1", "b"), pod("1", "b"))
        await store.create(key("2"), pod("2"))
        assert shape(await take(watcher)) == [("ADDED", "2", 3)]


async def test_a_watch_of_a_single_object(store: AnyStore) -> None:
    await store.create(key("1"), pod("1"))
    await store.create(key("11"), pod("11"))
    async with running(store) as cache, cache.watch(PODS, key=key("1")) as watcher:
        assert shape(await take(watcher)) == [("ADDED", "1", 2)]
        await store.update(key("11"), pod("11"), 3)
        await store.update(key("1"), pod("1"), 2)
        assert shape(await take(watcher)) == [("MODIFIED", "1", 5)]


async def test_a_timeout_reports_how_far_the_watch_is(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        revision = await store.create("/registry/nodes/n", b"{}")
        batch = await watcher.next(0)
    assert (batch.events, batch.revision) == ([], revision)


async def test_a_batch_holds_all_that_is_pending(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        await asyncio.gather(*(store.create(key(str(n)), pod(str(n))) for n in range(100)))
        assert len((await take(watcher)).events) == 100


async def test_a_slow_watcher_gets_what_it_has_and_then_an_error(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1, buffer_max=5) as watcher:
        for number in range(8):
            await store.create(key(str(number)), pod(str(number)))
            await cache.fresh()
        batch = await take(watcher)
        with pytest.raises(WatcherTooSlow):
            await watcher.next(1)
    assert [revision for _, _, revision in shape(batch)] == [2, 3, 4, 5, 6]
    assert (batch.revision, cache.counts.slow) == (6, 1)


async def test_the_present_does_not_count_for_the_buffer(store: AnyStore) -> None:
    for number in range(20):
        await store.create(key(str(number)), pod(str(number)))
    async with running(store) as cache, cache.watch(PODS, buffer_max=5) as watcher:
        await store.create(key("last"), pod("last"))
        await cache.fresh()
        assert [len((await take(watcher)).events) for _ in range(2)] == [20, 1]


async def test_watchers_share_events_and_verdicts(store: AnyStore) -> None:
    requested: list[str] = []

    def matches(record: Record) -> bool:
        requested.append(record.name)
        return True

    async with running(store) as cache:
        watchers = [cache.watch(PODS, after=1, matches=matches) for _ in range(10)]
        await store.create(key("1"), pod("1"))
        events = [(await take(watcher)).events[0][1] for watcher in watchers]
    assert requested == ["1"]
    assert all(event is events[0] for event in events)


async def test_a_closed_watcher_is_forgotten(store: AnyStore) -> None:
    async with running(store) as cache:
        async with cache.watch(PODS):
            assert cache.watchers == 1
        assert cache.watchers == 0


async def test_watchers_end_when_the_cache_stops(store: AnyStore) -> None:
    async with running(store) as cache:
        watcher = cache.watch(PODS, after=1)
        waiting = asyncio.create_task(watcher.next())
        await asyncio.sleep(0)
    with pytest.raises(CacheReset):
        await waiting


async def test_a_watch_older_than_the_caches_history_is_bridged_from_the_store(store: AnyStore) -> None:
    await store.create(key("0"), pod("0", app="y"))
    await store.update(key("0"), pod("0"), 2)
    await store.update(key("0"), pod("0", app="y"), 3)
    await store.delete(key("0"), 4)
    await store.create(key("1"), pod("1"))
    async with running(store) as cache:
        watcher = cache.watch(PODS, after=1, matches=app_is_x)
        await store.create(key("2"), pod("2"))
        observed: list[tuple[str, str, int]] = []
        async with watcher:
            while len(observed) < 4:
                observed += shape(await take(watcher))
    assert observed == [("ADDED", "0", 3), ("DELETED", "0", 4), ("ADDED", "1", 6), ("ADDED", "2", 7)]


async def test_a_watch_of_a_forgotten_revision_is_refused(store: AnyStore) -> None:
    await store.create(key("1"), pod("1"))
    await store.create(key("2"), pod("2"))
    await store.compact(3)
    async with running(store) as cache:
        with pytest.raises(Compacted):
            async with cache.watch(PODS, after=2):
                pass


class Flaky(MemoryStore):
    """A store whose watches can be cut."""

    def __init__(self) -> None:
        super().__init__()
        self.cuts: list[asyncio.Event] = []
        self.down = False

    def cut(self) -> None:
        for event in self.cuts:
            event.set()

    @asynccontextmanager
    async def watch(self, start: str, end: str, after: int) -> AsyncIterator[AsyncIterator[EventBatch]]:
        if self.down:
            raise OSError("the store is away")
        cut = asyncio.Event()
        self.cuts.append(cut)

        async def batches(watch: AsyncIterator[EventBatch]) -> AsyncIterator[EventBatch]:
            cutting = asyncio.create_task(cut.wait())
            try:
                while True:
                    batch = asyncio.ensure_future(anext(watch))
                    await asyncio.wait([batch, cutting], return_when=asyncio.FIRST_COMPLETED)
                    if cutting.done():
                        batch.cancel()
                        raise OSError("the watch was cut")
                    yield await batch
            finally:
                cutting.cancel()

        async with super().watch(start, end, after) as watch:
            iterator = batches(watch)
            try:
                yield iterator
            finally:
                await iterator.aclose()  # type: ignore[attr-defined]  # it is a generator


async def lost(cache: WatchCache) -> None:
    """Wait until the cache has detected the loss of its store."""
    async with asyncio.timeout(60):
        while cache.ready:
            await cache._moved.wait()


async def test_after_a_store_error_the_cache_resumes_without_a_gap() -> None:
    store = Flaky()
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        await store.create(key("1"), pod("1"))
        observed = shape(await take(watcher))
        store.down = True
        store.cut()
        await lost(cache)
        await store.create(key("2"), pod("2"))
        store.down = False
        observed += shape(await take(watcher))
    assert observed == [("ADDED", "1", 2), ("ADDED", "2", 3)]


async def test_after_compaction_the_cache_lists_again_and_ends_its_watchers() -> None:
    store = Flaky()
    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        await store.create(key("1"), pod("1"))
        await take(watcher)
        store.down = True
        store.cut()
        await lost(cache)
        await store.delete(key("1"), 2)
        await store.create(key("2"), pod("2"))
        await store.compact(4)
        store.down = False
        with pytest.raises(CacheReset):
            await watcher.next(5)
        await cache.wait_ready(5)
        assert [record.name for record in cache.list(PODS).records] == ["2"]
        with pytest.raises(Compacted):
            async with cache.watch(PODS, after=2):
                pass


async def test_a_store_that_is_not_in_this_process_is_followed_all_the_same() -> None:
    store = Flaky()
    async with running(store) as cache:
        revision = await store.create(key("1"), pod("1"))
        assert await cache.fresh() == revision
        assert cache.get(key("1")) is not None


async def test_watchers_that_take_the_same_events_share_what_is_made_of_them(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1) as one, cache.watch(PODS, after=1) as other:
        calls = 0

        def make(events: Sequence[Delivery]) -> list[int]:
            nonlocal calls
            calls += 1
            return [event.revision for _, event in events]

        for name in ("1", "2"):
            revision = await store.create(key(name), pod(name))
            taken = [(await take(watcher)).events for watcher in (one, other)]
            assert [one.group.shared("json", events, make) for events in taken] == [[revision]] * 2
        assert calls == 2
        assert one.group.shared("table", taken[0], make) == [revision]
        assert calls == 3, "another form is made for itself"


async def test_watchers_that_take_other_events_get_what_is_made_of_those(store: AnyStore) -> None:
    async with running(store) as cache, cache.watch(PODS, after=1) as fast, cache.watch(PODS, after=1) as slow:
        names: list[list[str]] = []

        def make(events: Sequence[Delivery]) -> list[str]:
            return [event.record.name for _, event in events]

        for name in ("1", "2", "3"):
            await store.create(key(name), pod(name))
            names.append(fast.group.shared("json", (await take(fast)).events, make))
        behind = slow.group.shared("json", (await take(slow)).events, make)
        assert (names, behind) == ([["1"], ["2"], ["3"]], ["1", "2", "3"])


async def test_a_watcher_that_was_ended_gets_no_more_than_it_has_taken(store: AnyStore) -> None:
    def make(events: Sequence[Delivery]) -> list[str]:
        return [event.record.name for _, event in events]

    async with (
        running(store) as cache,
        cache.watch(PODS, after=1) as long,
        cache.watch(PODS, after=1, buffer_max=2) as short,
        cache.watch(PODS, after=1),
    ):
        for name in ("1", "2", "3"):
            await store.create(key(name), pod(name))
            await cache.fresh()
        shown = [watcher.group.shared("json", (await take(watcher)).events, make) for watcher in (long, short)]
        assert shown == [["1", "2", "3"], ["1", "2"]]


async def test_a_single_watcher_keeps_nothing_of_what_it_has_sent(store: AnyStore) -> None:
    class Made:
        """Can be looked for."""

    async with running(store) as cache, cache.watch(PODS, after=1) as watcher:
        await store.create(key("1"), pod("1"))
        known = weakref.ref(watcher.group.shared("json", (await take(watcher)).events, lambda _: Made()))
        assert known() is None
