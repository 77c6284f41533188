"""`DeltaFIFO`: events gathered by key."""

import asyncio

from sampan.informer import DeletedFinalStateUnknown, DeltaFIFO, Indexer, last_known
from sampan.resource import Object
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.informer.refs import ref

Fifo = DeltaFIFO[Object]


def known(*names: str) -> Indexer[Object]:
    store: Indexer[Object] = Indexer()
    for name in names:
        store.put(ref(name, 1))
    return store


async def taken(fifo: Fifo) -> list[str]:
    found = []
    for delta in (await fifo.pop_batch()).deltas:
        if delta.obj is None:
            found.append(f"{delta.type.value} {delta.resource_version}")
            continue
        lost = "?" if isinstance(delta.obj, DeletedFinalStateUnknown) else ""
        found.append(f"{delta.type.value}{lost} {last_known(delta.obj).name}@{last_known(delta.obj).resource_version}")
    return found


@virtual_time
async def test_all_that_happened_to_a_key_comes_together() -> None:
    fifo = Fifo(known())
    fifo.add(ref("a", 1))
    fifo.add(ref("b", 2))
    fifo.update(ref("a", 3))
    assert await taken(fifo) == ["Added a@1", "Updated a@3", "Added b@2", "Bookmark 3"]


@virtual_time
async def test_of_two_deletions_the_one_with_the_last_state_is_queued() -> None:
    fifo = Fifo(known("a", "b"))
    fifo.delete(ref("a", 5))
    fifo.replace([], "6")
    fifo.delete(ref("b", 7))
    assert await taken(fifo) == ["Deleted a@5", "Deleted b@7", "Bookmark 7"]


@virtual_time
async def test_a_deletion_of_what_no_client_has_only_reports_how_far_the_store_is() -> None:
    fifo = Fifo(known())
    fifo.delete(ref("a", 5))
    assert len(fifo) == 0
    assert await taken(fifo) == ["Bookmark 5"]


@virtual_time
async def test_a_list_makes_tombstones_of_what_is_known_or_queued_and_not_in_it() -> None:
    fifo = Fifo(known("a", "b"))
    fifo.update(ref("q", 5))
    fifo.replace([ref("b", 6)], "7")
    assert await taken(fifo) == ["Updated q@5", "Deleted? q@5", "Replaced b@6", "Deleted? a@1", "Bookmark 7"]


@virtual_time
async def test_a_queued_deletion_survives_a_list_that_has_the_key_again() -> None:
    fifo = Fifo(known("a"))
    fifo.delete(ref("a", 5))
    fifo.replace([ref("a", 6, uid="other")], "7")
    assert await taken(fifo) == ["Deleted a@5", "Replaced a@6", "Bookmark 7"]


@virtual_time
async def test_a_resync_passes_over_keys_with_something_queued() -> None:
    fifo = Fifo(known("a", "b"))
    fifo.update(ref("a", 5))
    fifo.resync()
    assert await taken(fifo) == ["Updated a@5", "Sync b@1", "Bookmark 5"]


@virtual_time
async def test_it_has_synced_when_all_of_the_first_list_is_taken_out() -> None:
    fifo = Fifo(known())
    fifo.replace([ref(f"w{number}") for number in range(1500)], "7")
    assert (await fifo.pop_batch()).is_in_initial_list
    assert not fifo.has_synced()
    assert (await fifo.pop_batch()).is_in_initial_list
    assert fifo.has_synced()


@virtual_time
async def test_an_empty_first_list_syncs_too() -> None:
    fifo = Fifo(known())
    fifo.replace([], "7")
    assert fifo.has_synced()
    assert await taken(fifo) == ["Bookmark 7"]


@virtual_time
async def test_the_version_is_reported_only_when_all_is_taken_out() -> None:
    fifo = Fifo(known())
    for number in range(1001):
        fifo.add(ref(f"w{number}", number))
    fifo.bookmark("5000")
    assert (await taken(fifo))[-1] == "Added w999@999"
    assert await taken(fifo) == ["Added w1000@1000", "Bookmark 5000"]


@virtual_time
async def test_a_reflector_that_is_two_batches_of_keys_ahead_waits() -> None:
    fifo = Fifo(known())
    for number in range(2001):
        fifo.add(ref(f"w{number}"))
    waiting = asyncio.create_task(fifo.room())
    await settle()
    assert not waiting.done()
    await fifo.pop_batch()
    await waiting


@virtual_time
async def test_an_object_added_after_the_first_list_is_not_part_of_it() -> None:
    fifo = Fifo(known())
    fifo.replace([ref("a", 1)], "1")
    fifo.add(ref("b", 2))
    first = await fifo.pop_batch()
    assert first.is_in_initial_list
    assert len(first.deltas) == 1
    assert not (await fifo.pop_batch()).is_in_initial_list
