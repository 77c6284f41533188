"""`InOrderQueue`: watch order, with separate deltas for lists, resyncs and bookmarks."""

import asyncio

from sampan.informer import Delta, DeltaType, InOrderQueue
from sampan.resource import Object
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.informer.refs import ref

Q = InOrderQueue[Object]


def text(delta: Delta[Object]) -> str:
    what = delta.obj.key.removeprefix("ns/") if delta.obj else ",".join(ref.name for ref in delta.refs)
    return f"{delta.type.value} {what}".rstrip()


async def batches(queue: Q) -> list[list[str]]:
    found = []
    while len(queue):
        found.append([text(delta) for delta in (await queue.pop_batch()).deltas])
    return found


@virtual_time
async def test_events_of_all_keys_come_in_the_order_of_the_watch_and_none_is_left_out() -> None:
    queue = Q()
    queue.add(ref("a", 1))
    queue.add(ref("b", 2))
    queue.update(ref("a", 3))
    queue.delete(ref("a", 4))
    queue.add(ref("a", 5))
    assert await batches(queue) == [["Added a", "Added b", "Updated a", "Deleted a", "Added a"]]


@virtual_time
async def test_a_list_is_one_delta() -> None:
    queue = Q()
    queue.add(ref("a"))
    queue.replace([ref("b"), ref("c")], "7")
    queue.update(ref("b"))
    assert await batches(queue) == [["Added a"], ["ReplacedAll b,c"], ["Updated b"]]


@virtual_time
async def test_resyncs_and_bookmarks_are_separate_batches_after_queued_events() -> None:
    queue = Q()
    queue.update(ref("a"))
    queue.resync()
    queue.bookmark("9")
    queue.update(ref("b"))
    assert await batches(queue) == [["Updated a"], ["SyncAll"], ["Bookmark"], ["Updated b"]]


@virtual_time
async def test_a_batch_has_at_most_a_thousand_deltas() -> None:
    queue = Q()
    for number in range(2500):
        queue.update(ref("a", number))
    assert [len(batch) for batch in await batches(queue)] == [1000, 1000, 500]


@virtual_time
async def test_it_has_synced_when_the_first_list_is_taken_out_and_so_much_is_in_the_initial_list() -> None:
    queue = Q()
    assert not queue.has_synced()
    queue.replace([ref("a")], "7")
    queue.update(ref("a"))
    assert not queue.has_synced()
    assert (await queue.pop_batch()).is_in_initial_list
    assert queue.has_synced()
    assert not (await queue.pop_batch()).is_in_initial_list


@virtual_time
async def test_it_has_synced_when_events_come_before_a_list() -> None:
    queue = Q()
    queue.add(ref("a"))
    assert queue.has_synced()


@virtual_time
async def test_a_client_that_takes_out_waits_for_something() -> None:
    queue = Q()
    waiting = asyncio.create_task(queue.pop_batch())
    await settle()
    assert not waiting.done()
    queue.bookmark("1")
    assert [text(delta) for delta in (await waiting).deltas] == ["Bookmark"]


@virtual_time
async def test_a_reflector_that_is_two_batches_ahead_waits() -> None:
    queue = Q()
    for number in range(2001):
        queue.update(ref("a", number))
    waiting = asyncio.create_task(queue.room())
    await settle()
    assert not waiting.done()
    await queue.pop_batch()
    await waiting


@virtual_time
async def test_deltas_report_how_far_the_store_is_unless_they_are_in_no_order() -> None:
    queue = Q()
    queue.add(ref("a", 5), ordered=False)
    queue.add(ref("b", 3))
    queue.replace([], "8")
    queue.resync()
    versions = []
    while len(queue):
        versions += [delta.resource_version for delta in (await queue.pop_batch()).deltas]
    assert versions == ["", "3", "8", ""]
    assert DeltaType("Added") is DeltaType.ADDED
