"""The Store's contract, on every engine: writes and reads of the present."""

import asyncio

import pytest

from sampan.storage.store import Conflict, KeyExists, KeyValue, Store, prefix_end

A, B, C = "/registry/pods/ns/a", "/registry/pods/ns/b", "/registry/pods/ns/c"
PODS = "/registry/pods/"
END = prefix_end(PODS)


async def test_an_empty_store_has_a_revision_above_zero(store: Store) -> None:
    assert await store.revision() == 1


async def test_a_created_row_is_read_back(store: Store) -> None:
    revision = await store.create(A, b"1")
    assert await store.get(A) == KeyValue(A, b"1", revision, revision)


async def test_values_are_opaque_bytes(store: Store) -> None:
    value = bytes(range(256))
    await store.create(A, value)
    assert (await store.range(A, prefix_end(A))).items[0].value == value


async def test_an_empty_value_is_a_value(store: Store) -> None:
    await store.create(A, b"")
    assert [row.value for row in (await store.range(PODS, END)).items] == [b""]


async def test_an_absent_key_reads_as_none(store: Store) -> None:
    assert await store.get(A) is None


async def test_each_write_takes_the_next_revision(store: Store) -> None:
    first = await store.create(A, b"1")
    second = await store.update(A, b"2", first)
    third = await store.delete(A, second)
    assert (first, second, third, await store.revision()) == (2, 3, 4, 4)


async def test_a_store_is_ready_when_the_writes_before_have_ended(store: Store) -> None:
    write = asyncio.ensure_future(store.create(A, b"1"))
    await asyncio.sleep(0)
    await store.ready()
    assert (await write, await store.revision()) == (2, 2)


async def test_create_of_a_taken_key_is_refused(store: Store) -> None:
    await store.create(A, b"1")
    with pytest.raises(KeyExists) as refusal:
        await store.create(A, b"2")
    assert refusal.value.key == A


async def test_a_refused_write_takes_no_revision(store: Store) -> None:
    revision = await store.create(A, b"1")
    with pytest.raises(KeyExists):
        await store.create(A, b"2")
    assert await store.revision() == revision


async def test_update_keeps_the_create_revision(store: Store) -> None:
    created = await store.create(A, b"1")
    updated = await store.update(A, b"2", created)
    assert await store.get(A) == KeyValue(A, b"2", created, updated)


async def test_a_key_created_again_has_a_new_create_revision(store: Store) -> None:
    await store.delete(A, await store.create(A, b"1"))
    again = await store.create(A, b"2")
    assert await store.get(A) == KeyValue(A, b"2", again, again)


@pytest.mark.parametrize("expected", [0, 1, 99, -1], ids=["zero", "older", "future", "negative"])
async def test_update_at_another_revision_conflicts_with_what_is_there(store: Store, expected: int) -> None:
    await store.create(A, b"1")
    with pytest.raises(Conflict) as conflict:
        await store.update(A, b"2", expected)
    assert conflict.value.current == KeyValue(A, b"1", 2, 2)


@pytest.mark.parametrize("expected", [0, 1, 99], ids=["zero", "older", "future"])
async def test_update_of_an_absent_key_conflicts_with_nothing(store: Store, expected: int) -> None:
    with pytest.raises(Conflict) as conflict:
        await store.update(A, b"2", expected)
    assert conflict.value.current is None
    assert await store.get(A) is None


@pytest.mark.parametrize("expected", [0, 1, 99], ids=["zero", "older", "future"])
async def test_delete_at_another_revision_conflicts(store: Store, expected: int) -> None:
    await store.create(A, b"1")
    with pytest.raises(Conflict):
        await store.delete(A, expected)
    assert await store.get(A) is not None


async def test_delete_removes_the_row(store: Store) -> None:
    await store.delete(A, await store.create(A, b"1"))
    assert await store.get(A) is None
    assert (await store.range(PODS, END)).items == []


async def test_of_concurrent_creates_of_one_key_one_wins(store: Store) -> None:
    results = await asyncio.gather(*(store.create(A, b"%d" % n) for n in range(20)), return_exceptions=True)
    assert sum(isinstance(result, int) for result in results) == 1
    assert sum(isinstance(result, KeyExists) for result in results) == 19


async def test_one_of_many_concurrent_updates_succeeds_and_the_rest_get_its_result(store: Store) -> None:
    revision = await store.create(A, b"0")
    updates = (store.update(A, b"%d" % n, revision) for n in range(20))
    results = await asyncio.gather(*updates, return_exceptions=True)
    won = [result for result in results if isinstance(result, int)]
    lost = [result for result in results if isinstance(result, Conflict)]
    assert len(won) == 1
    assert len(lost) == 19
    assert {conflict.current for conflict in lost} == {await store.get(A)}


async def test_a_refused_write_does_not_fail_its_neighbours(store: Store) -> None:
    await store.create(A, b"1")
    results = await asyncio.gather(
        store.create(B, b"1"), store.create(A, b"2"), store.create(C, b"1"), return_exceptions=True
    )
    assert [type(result) for result in results] == [int, KeyExists, int]


async def test_concurrent_writes_get_different_revisions(store: Store) -> None:
    revisions = await asyncio.gather(*(store.create(f"{PODS}{n}", b"x") for n in range(500)))
    rows = (await store.range(PODS, END)).items
    assert len(set(revisions)) == 500
    assert sorted(revisions) == sorted(row.mod_revision for row in rows)


async def test_a_write_is_read_once_it_is_acknowledged(store: Store) -> None:
    async def write(number: int) -> None:
        key = f"{PODS}{number}"
        revision = await store.create(key, b"x")
        row = await store.get(key)
        assert row is not None
        assert row.mod_revision == revision
        assert await store.revision() >= revision

    await asyncio.gather(*(write(number) for number in range(100)))


async def test_a_cancelled_writer_leaves_the_store_in_order(store: Store) -> None:
    task = asyncio.create_task(store.create(A, b"1"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    revision = await store.create(B, b"1")
    assert await store.revision() == revision


async def test_rows_come_in_the_order_of_their_utf8_bytes(store: Store) -> None:
    names = ["a", "B", "a-b", "a.b", "a/b", "é", "\U0001f40b", "\uffff", "ab"]
    for name in names:
        await store.create(PODS + name, b"")
    rows = (await store.range(PODS, END)).items
    assert [row.key for row in rows] == sorted((PODS + name for name in names), key=lambda key: key.encode())


async def test_a_range_holds_its_start_and_not_its_end(store: Store) -> None:
    for key in (A, B, C):
        await store.create(key, b"")
    assert [row.key for row in (await store.range(A, C)).items] == [A, B]


async def test_a_limited_range_reports_that_there_is_more_and_how_much(store: Store) -> None:
    for key in (A, B, C):
        await store.create(key, b"")
    page = await store.range(PODS, END, limit=2)
    assert ([row.key for row in page.items], page.more, page.count) == ([A, B], True, 3)


async def test_the_last_page_has_no_more(store: Store) -> None:
    for key in (A, B):
        await store.create(key, b"")
    page = await store.range(PODS, END, limit=2)
    assert (page.more, page.count) == (False, 2)


async def test_a_range_that_need_not_count_may_leave_it(store: Store) -> None:
    await store.create(A, b"")
    assert (await store.range(PODS, END, count=False)).count in (-1, 1)


async def test_an_empty_range_has_the_stores_revision(store: Store) -> None:
    revision = await store.create("/registry/nodes/a", b"")
    result = await store.range(PODS, END)
    assert (list(result.items), result.more, result.count, result.revision) == ([], False, 0, revision)


async def test_a_long_range_is_one_snapshot_while_writes_go_on(store: Store) -> None:
    await asyncio.gather(*(store.create(f"{PODS}{n:05}", b"x") for n in range(2500)))

    async def write() -> None:
        for number in range(2499, 2400, -1):
            row = await store.get(f"{PODS}{number:05}")
            assert row is not None
            await store.delete(row.key, row.mod_revision)

    result, _ = await asyncio.gather(store.range(PODS, END), write())
    exact = await store.range(PODS, END, revision=result.revision)
    assert list(result.items) == list(exact.items)


async def test_size_is_more_with_more_data(store: Store) -> None:
    before = await store.size_bytes()
    await asyncio.gather(*(store.create(f"{PODS}{n}", b"x" * 1000) for n in range(100)))
    assert await store.size_bytes() >= before + 50_000
