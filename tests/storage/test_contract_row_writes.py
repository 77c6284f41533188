"""The Store's contract, on every engine: the past writes of a key, the deletions of a range, the size of the past."""

import pytest

from sampan.storage.store import KeyValue, RowWrite, Store, prefix_end

A, B = "/registry/pods/ns/a", "/registry/pods/ns/b"
PODS = "/registry/pods/"
END = prefix_end(PODS)


async def changed(store: Store, key: str, values: list[bytes]) -> list[int]:
    """Create a key with the first value, and write the others. Return the revisions."""
    revisions: list[int] = []
    for value in values:
        made = store.update(key, value, revisions[-1]) if revisions else store.create(key, value)
        revisions.append(await made)
    return revisions


async def test_the_writes_of_a_key_are_returned_newest_first(store: Store) -> None:
    first, _, last = await changed(store, A, [b"1", b"2", b"3"])
    await changed(store, B, [b"other"])
    found = await store.writes_of(A, limit=10)
    assert [write.row.value for write in found] == [b"3", b"2", b"1"]
    assert found[0] == RowWrite(last, KeyValue(A, b"3", first, last), deleted=False)


async def test_writes_before_a_revision_continue_a_page(store: Store) -> None:
    await changed(store, A, [b"1", b"2", b"3", b"4"])
    page = await store.writes_of(A, limit=2)
    rest = await store.writes_of(A, before=page[-1].revision, limit=2)
    assert [write.row.value for write in [*page, *rest]] == [b"4", b"3", b"2", b"1"]


async def test_writes_before_a_revision_of_another_key_are_those_below_it(store: Store) -> None:
    await changed(store, A, [b"1", b"2"])
    (between,) = await changed(store, B, [b"other"])
    current = await store.get(A)
    assert current is not None
    await store.update(A, b"3", current.mod_revision)
    found = await store.writes_of(A, before=between, limit=10)
    assert [write.row.value for write in found] == [b"2", b"1"]


async def test_a_deleted_key_has_its_deletion_and_the_writes_before_it(store: Store) -> None:
    _, last = await changed(store, A, [b"1", b"2"])
    removed = await store.delete(A, last)
    found = await store.writes_of(A, limit=10)
    assert [(write.revision, write.row.value, write.deleted) for write in found] == [
        (removed, b"2", True),
        (last, b"2", False),
        (last - 1, b"1", False),
    ]


async def test_the_writes_of_a_key_that_was_created_again_begin_with_that(store: Store) -> None:
    (first,) = await changed(store, A, [b"old"])
    await store.delete(A, first)
    await changed(store, A, [b"new"])
    assert [write.row.value for write in await store.writes_of(A, limit=10)] == [b"new"]


async def test_the_oldest_write_after_a_compaction_is_the_state_at_it(store: Store) -> None:
    _, second, _ = await changed(store, A, [b"1", b"2", b"3"])
    await store.compact(second)
    assert [write.row.value for write in await store.writes_of(A, limit=10)] == [b"3", b"2"]


async def test_a_key_that_never_was_has_no_writes(store: Store) -> None:
    await changed(store, B, [b"other"])
    assert list(await store.writes_of(A, limit=10)) == []


async def test_deletions_are_returned_newest_first_with_the_last_states(store: Store) -> None:
    (a,) = await changed(store, A, [b"a"])
    (b,) = await changed(store, B, [b"b"])
    removed = [await store.delete(A, a), await store.delete(B, b)]
    found = await store.deletions(PODS, END, limit=10)
    assert list(found) == [
        RowWrite(removed[1], KeyValue(B, b"b", b, b), deleted=True),
        RowWrite(removed[0], KeyValue(A, b"a", a, a), deleted=True),
    ]


async def test_deletions_before_a_revision_continue_a_page(store: Store) -> None:
    for key in (A, B):
        await store.delete(key, (await changed(store, key, [b"x"]))[0])
    page = await store.deletions(PODS, END, limit=1)
    rest = await store.deletions(PODS, END, before=page[0].revision, limit=1)
    assert [write.row.key for write in [*page, *rest]] == [B, A]


async def test_compacted_deletions_are_gone(store: Store) -> None:
    removed = await store.delete(A, (await changed(store, A, [b"a"]))[0])
    await changed(store, B, [b"b"])
    await store.compact(removed)
    assert list(await store.deletions(PODS, END, limit=10)) == []
    assert list(await store.writes_of(A, limit=10)) == []


async def test_changes_are_returned_newest_first_with_deletions(store: Store) -> None:
    first, second = await changed(store, A, [b"1", b"2"])
    (other,) = await changed(store, B, [b"b"])
    removed = await store.delete(A, second)
    found = await store.changes(PODS, END, limit=10)
    assert list(found) == [
        RowWrite(removed, KeyValue(A, b"2", first, second), deleted=True),
        RowWrite(other, KeyValue(B, b"b", other, other), deleted=False),
        RowWrite(second, KeyValue(A, b"2", first, second), deleted=False),
        RowWrite(first, KeyValue(A, b"1", first, first), deleted=False),
    ]


async def test_changes_before_a_revision_continue_a_page(store: Store) -> None:
    await changed(store, A, [b"1", b"2", b"3"])
    page = await store.changes(PODS, END, limit=2)
    rest = await store.changes(PODS, END, before=page[-1].revision, limit=2)
    assert [write.row.value for write in [*page, *rest]] == [b"3", b"2", b"1"]


async def test_changes_after_a_compaction_have_the_previous_states_of_deletions(store: Store) -> None:
    _, last = await changed(store, A, [b"1", b"2"])
    await store.compact(last)
    removed = await store.delete(A, last)
    assert [(write.revision, write.row.value) for write in await store.changes(PODS, END, limit=10)] == [
        (removed, b"2")
    ]


@pytest.mark.parametrize("key", [A, B], ids=["same key", "another key"])
async def test_writes_before_a_revision_of_an_earlier_life_are_none(store: Store, key: str) -> None:
    (first,) = await changed(store, A, [b"old"])
    (between,) = await changed(store, B, [b"other"])
    await store.delete(A, first)
    await changed(store, A, [b"new"])
    before = first if key == A else between
    assert list(await store.writes_of(A, before=before, limit=10)) == []


async def test_a_page_of_a_deleted_key_may_begin_at_its_deletion(store: Store) -> None:
    _, last = await changed(store, A, [b"1", b"2"])
    removed = await store.delete(A, last)
    page = await store.writes_of(A, limit=1)
    rest = await store.writes_of(A, before=page[-1].revision, limit=10)
    last_page = await store.writes_of(A, before=rest[0].revision, limit=10)
    assert page[0].revision == removed
    assert ([write.row.value for write in rest], [write.row.value for write in last_page]) == ([b"2", b"1"], [b"1"])


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
async def test_superseded_values_are_measured_between_two_revisions(store: Store) -> None:
    first, second, third = await changed(store, A, [b"x" * 10, b"x" * 200, b"x" * 3000])
    assert await store.superseded_bytes(first, third) == 210
    assert await store.superseded_bytes(second, third) == 200
