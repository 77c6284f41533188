"""The Store's contract, on every engine: watches."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sampan.storage.broadcaster import LocalWatch
from sampan.storage.store import Compacted, EventBatch, KeyValue, Store, StoreEvent, prefix_end
from tests.storage.conftest import AnyStore, MakeStore

A, B = "/registry/pods/ns/a", "/registry/pods/ns/b"
PODS = "/registry/pods/"
END = prefix_end(PODS)


async def take(watch: AsyncIterator[EventBatch], count: int) -> list[StoreEvent]:
    """The next `count` events."""
    events: list[StoreEvent] = []
    async with asyncio.timeout(60):
        while len(events) < count:
            events += (await anext(watch)).events
    assert len(events) == count
    return events


async def written(store: Store) -> list[StoreEvent]:
    """2: a=1, 3: b=1, 4: a=2, 5: a deleted, 6: a=3."""
    await store.create(A, b"a1")
    await store.create(B, b"b1")
    await store.update(A, b"a2", 2)
    await store.delete(A, 4)
    await store.create(A, b"a3")
    return [
        StoreEvent(2, A, b"a1", None),
        StoreEvent(3, B, b"b1", None),
        StoreEvent(4, A, b"a2", KeyValue(A, b"a1", 2, 2)),
        StoreEvent(5, A, None, KeyValue(A, b"a2", 2, 4)),
        StoreEvent(6, A, b"a3", None),
    ]


async def test_a_live_watch_sees_every_write_with_what_was_before(store: Store) -> None:
    async with store.watch(PODS, END, 1) as watch:
        expected = await written(store)
        assert await take(watch, 5) == expected


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
async def test_a_watch_resumes_from_history(store: Store, after: int) -> None:
    expected = await written(store)
    async with store.watch(PODS, END, after) as watch:
        assert await take(watch, 6 - after) == expected[after - 1 :]


async def test_a_watch_goes_from_history_to_live_without_gap_or_duplicate(store: Store) -> None:
    # Revisions may have gaps: a write makes an old etcd report its progress.
    earlier = await asyncio.gather(*(store.create(f"{PODS}h{n}", b"x") for n in range(2000)))

    async def write() -> list[int]:
        return [await store.create(f"{PODS}l{number}", b"x") for number in range(200)]

    async with store.watch(PODS, END, 1) as watch:
        events, later = await asyncio.gather(take(watch, 2200), write())
    assert [event.revision for event in events] == sorted([*earlier, *later])


async def test_a_watch_sees_only_its_range(store: Store) -> None:
    async with store.watch(PODS, END, 1) as watch:
        await store.create("/registry/nodes/a", b"")
        await store.create("/registry/podsecurity/a", b"")
        await store.create(A, b"")
        assert [event.key for event in await take(watch, 1)] == [A]


async def test_a_watch_from_history_sees_only_its_range(store: Store) -> None:
    await store.create("/registry/nodes/a", b"")
    await store.create(A, b"")
    await store.create("/registry/zebras/a", b"")
    async with store.watch(PODS, END, 1) as watch:
        assert [event.key for event in await take(watch, 1)] == [A]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("/registry/", "/registry0", 3),
        ("/registry/pods/ns/", "/registry/pods/ns0", 2),
        (A, A + "\0", 1),
        ("/registry/pods/ns/b", "/registry/pods/ns/z", 1),
        ("", "\U0010ffff", 3),
    ],
    ids=["parent", "namespace", "key", "part", "all"],
)
async def test_ranges_of_any_shape_can_be_watched(store: Store, start: str, end: str, expected: int) -> None:
    async with store.watch(start, end, 1) as watch:
        for key in (A, B, "/registry/nodes/n"):
            await store.create(key, b"")
        events = await take(watch, expected)
    assert all(start <= event.key < end for event in events)


async def test_a_watch_after_a_revision_of_the_future_begins_there(store: Store) -> None:
    async with store.watch(PODS, END, 3) as watch:
        expected = await written(store)
        assert await take(watch, 3) == expected[2:]


async def test_all_watchers_see_the_same_order(store: Store) -> None:
    async with store.watch(PODS, END, 1) as one, store.watch("/registry/", "/registry0", 1) as other:
        await asyncio.gather(*(store.create(f"{PODS}{n}", b"x") for n in range(300)))
        assert await take(one, 300) == await take(other, 300)


async def test_events_are_there_when_the_write_is_acknowledged(store: Store) -> None:
    async with store.watch(PODS, END, 1) as watch:
        assert isinstance(watch, LocalWatch)
        revision = await store.create(A, b"1")
        batch = watch.poll()
    assert batch is not None
    assert (batch.revision, [event.key for event in batch.events]) == (revision, [A])


async def test_a_poll_returns_the_revision_of_the_store_after_foreign_writes(store: Store) -> None:
    async with store.watch(PODS, END, 1) as watch:
        assert isinstance(watch, LocalWatch)
        revision = await store.create("/registry/nodes/a", b"")
        assert watch.poll() == EventBatch([], revision)


async def test_a_batch_reports_how_far_the_watch_is(store: Store) -> None:
    await written(store)
    async with store.watch(PODS, END, 1) as watch:
        batch = await anext(watch)
    assert batch.revision == 6


async def test_history_without_events_of_the_range_ends_with_how_far_it_is(store: Store) -> None:
    await written(store)
    async with asyncio.timeout(60), store.watch("/registry/zebras/", "/registry/zebras0", 1) as watch:
        assert await anext(watch) == EventBatch([], 6)


@pytest.mark.parametrize("after", [0, 1, 3])
async def test_a_watch_of_a_compacted_revision_is_refused(store: Store, after: int) -> None:
    await written(store)
    await store.compact(4)
    with pytest.raises(Compacted) as error:
        async with store.watch(PODS, END, after):
            pass
    assert error.value.compact_revision == 4


async def test_a_watch_after_the_compact_revision_has_all_events(store: Store) -> None:
    expected = await written(store)
    await store.compact(4)
    async with store.watch(PODS, END, 4) as watch:
        assert await take(watch, 2) == expected[3:]


async def test_a_live_watch_does_not_mind_compaction(store: Store) -> None:
    async with store.watch(PODS, END, 1) as watch:
        expected = await written(store)
        await store.compact(6)
        assert await take(watch, 5) == expected


async def test_a_watch_that_falls_behind_catches_up_from_history(make_store: MakeStore) -> None:
    store = await make_store(watch_buffer_max=10)
    async with store.watch(PODS, END, 1) as watch:
        revisions = [await store.create(f"{PODS}{number}", b"x") for number in range(50)]
        events = await take(watch, 50)
        revisions.append(await store.create(A, b"x"))
        events += await take(watch, 1)
    assert [event.revision for event in events] == revisions


async def test_a_watch_that_falls_behind_compaction_is_reported(make_store: MakeStore) -> None:
    store = await make_store(watch_buffer_max=10)
    async with store.watch(PODS, END, 1) as watch:
        for number in range(50):
            await store.create(f"{PODS}{number}", b"x")
        await store.compact(40)
        with pytest.raises(Compacted):
            await anext(watch)


async def test_closing_a_watch_does_not_affect_another_one(store: Store) -> None:
    async with store.watch(PODS, END, 1) as watch:
        async with store.watch(PODS, END, 1):
            pass
        await store.create(A, b"x")
        assert len(await take(watch, 1)) == 1


async def test_a_watch_ends_when_the_store_closes(make_store: MakeStore) -> None:
    store = await make_store()
    async with store.watch(PODS, END, 1) as watch:
        waiting = asyncio.ensure_future(anext(watch, None))
        await asyncio.sleep(0)
        await store.close()
        assert await asyncio.wait_for(waiting, 60) is None


async def test_dispatch_does_not_look_at_watchers_of_other_prefixes(store: AnyStore) -> None:
    broadcaster = store._broadcaster
    rest = [broadcaster.watch(f"/registry/r{n}/", f"/registry/r{n}0", 1) for n in range(1000)]
    for other in rest:
        await other.__aenter__()
    watched = broadcaster.watch(PODS, END, 1)
    broadcaster.add(watched)
    assert list(broadcaster._of_directory("/registry/pods/ns/")) == [watched]
