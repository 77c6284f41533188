"""The Store's contract, on every engine: older revisions, compaction, expiry."""

import asyncio

import pytest

from sampan.storage.store import Compacted, FutureRevision, KeyValue, RangeResult, Store, prefix_end
from tests.storage.conftest import AnyStore, Clock

A, B = "/registry/pods/ns/a", "/registry/pods/ns/b"
PODS = "/registry/pods/"
END = prefix_end(PODS)


def rows(result: RangeResult) -> dict[str, bytes]:
    return {row.key: row.value for row in result.items}


async def written(store: Store) -> None:
    """2: a=1, 3: b=1, 4: a=2, 5: a deleted, 6: a=3."""
    await store.create(A, b"a1")
    await store.create(B, b"b1")
    await store.update(A, b"a2", 2)
    await store.delete(A, 4)
    await store.create(A, b"a3")


STATES = [
    (1, {}),
    (2, {A: b"a1"}),
    (3, {A: b"a1", B: b"b1"}),
    (4, {A: b"a2", B: b"b1"}),
    (5, {B: b"b1"}),
    (6, {A: b"a3", B: b"b1"}),
]


@pytest.mark.parametrize(("revision", "state"), STATES, ids=[str(revision) for revision, _ in STATES])
async def test_a_range_at_a_revision_shows_the_state_then(store: Store, revision: int, state: dict[str, bytes]) -> None:
    await written(store)
    result = await store.range(PODS, END, revision=revision)
    assert (rows(result), result.revision, result.count) == (state, revision, len(state))


async def test_an_old_row_has_its_revisions_at_that_time(store: Store) -> None:
    await written(store)
    result = await store.range(PODS, END, revision=4)
    assert list(result.items) == [KeyValue(A, b"a2", 2, 4), KeyValue(B, b"b1", 3, 3)]


async def test_pages_at_a_revision_are_of_one_snapshot(store: Store) -> None:
    await written(store)
    first = await store.range(PODS, END, limit=1, revision=3)
    second = await store.range(first.items[-1].key + "\0", END, limit=1, revision=3)
    assert (rows(first), first.more, first.count) == ({A: b"a1"}, True, 2)
    assert (rows(second), second.more, second.count) == ({B: b"b1"}, False, 1)


async def test_a_revision_that_is_not_written_yet_is_of_the_future(store: Store) -> None:
    await written(store)
    with pytest.raises(FutureRevision) as error:
        await store.range(PODS, END, revision=7)
    assert (error.value.revision, error.value.current_revision) == (7, 6)


async def test_a_compacted_revision_cannot_be_read(store: Store) -> None:
    await written(store)
    await store.compact(4)
    with pytest.raises(Compacted) as error:
        await store.range(PODS, END, revision=3)
    assert (error.value.compact_revision, error.value.current_revision) == (4, 6)


@pytest.mark.parametrize(("revision", "state"), STATES[3:], ids=[str(revision) for revision, _ in STATES[3:]])
async def test_the_compact_revision_and_later_ones_can_be_read(
    store: Store, revision: int, state: dict[str, bytes]
) -> None:
    await written(store)
    await store.compact(4)
    assert rows(await store.range(PODS, END, revision=revision)) == state


async def test_a_store_has_how_far_it_is_compacted(store: Store) -> None:
    await written(store)
    assert store.compacted == 0
    await store.compact(4)
    assert store.compacted == 4


async def test_compaction_leaves_current_rows(store: Store) -> None:
    await written(store)
    await store.compact(6)
    assert rows(await store.range(PODS, END)) == {A: b"a3", B: b"b1"}
    assert await store.get(B) == KeyValue(B, b"b1", 3, 3)


@pytest.mark.parametrize("revision", [4, 3, 0], ids=["same", "older", "zero"])
async def test_compaction_never_goes_back(store: Store, revision: int) -> None:
    await written(store)
    await store.compact(4)
    with pytest.raises(Compacted):
        await store.compact(revision)


async def test_the_future_cannot_be_compacted(store: Store) -> None:
    with pytest.raises(FutureRevision):
        await store.compact(2)


async def test_writers_go_on_during_compaction(store: Store) -> None:
    for _ in range(750):
        deleted = await store.delete(A, await store.create(A, b"x"))
        assert await store.revision() >= deleted
    done = asyncio.create_task(store.compact(1400))
    await store.create(B, b"1")
    await done
    assert rows(await store.range(PODS, END)) == {B: b"1"}


async def test_history_is_gone_and_current_rows_are_there_after_many_compactions(store: Store) -> None:
    revision = await store.create(A, b"0")
    await store.create(B, b"b")
    for number in range(1, 20):
        revision = await store.update(A, b"%d" % number, revision)
        await store.compact(revision)
    assert rows(await store.range(PODS, END, revision=revision)) == {A: b"19", B: b"b"}


async def test_a_row_with_a_ttl_expires_as_a_delete(store: AnyStore, clock: Clock) -> None:
    await store.create(A, b"1", ttl_s=60)
    async with store.watch(PODS, END, 2) as watch:
        clock.now += 61
        store.expire()
        batch = await anext(watch)
    assert [(event.revision, event.key, event.value) for event in batch.events] == [(3, A, None)]
    assert await store.get(A) is None


async def test_a_row_does_not_expire_early(store: AnyStore, clock: Clock) -> None:
    await store.create(A, b"1", ttl_s=60)
    clock.now += 59
    store.expire()
    await store.create(B, b"1")
    assert await store.get(A) is not None


async def test_an_update_sets_the_ttl_again(store: AnyStore, clock: Clock) -> None:
    revision = await store.create(A, b"1", ttl_s=60)
    await store.update(A, b"2", revision, ttl_s=600)
    clock.now += 61
    store.expire()
    await store.create(B, b"1")
    assert await store.get(A) is not None


async def test_an_update_without_ttl_makes_the_row_last(store: AnyStore, clock: Clock) -> None:
    revision = await store.create(A, b"1", ttl_s=60)
    await store.update(A, b"2", revision)
    clock.now += 10_000
    store.expire()
    await store.create(B, b"1")
    assert await store.get(A) is not None


async def test_a_key_made_again_does_not_expire_with_the_old_one(store: AnyStore, clock: Clock) -> None:
    await store.delete(A, await store.create(A, b"1", ttl_s=60))
    await store.create(A, b"2")
    clock.now += 61
    store.expire()
    await store.create(B, b"1")
    assert await store.get(A) is not None
