"""Guarantees of a work queue."""

import asyncio
from collections.abc import Callable

import pytest
import uvloop

from sampan.operator.queue import LOW_PRIORITY, ItemExponentialFailureRateLimiter, QueueShutDown, WorkQueue
from sampan.testing.time.virtual_time import elapsed, settle, virtual_time


@virtual_time
async def test_a_key_that_is_added_twice_is_handed_out_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.add("a")
    assert await queue.get() == "a"
    assert len(queue) == 0


@virtual_time
async def test_an_add_while_the_key_is_processed_marks_it_dirty_and_done_brings_it_back() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert len(queue) == 1
    assert await queue.get() == "a"


@virtual_time
async def test_keys_come_out_in_the_order_in_which_they_became_due() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in ("b", "a", "c", "a"):
        queue.add(key)
    assert [await queue.get() for _ in range(3)] == ["b", "a", "c"]


@virtual_time
async def test_a_key_that_comes_back_goes_behind_those_that_have_waited() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("noisy")
    queue.add("quiet")
    await queue.get()
    queue.add("noisy")
    queue.done("noisy")
    assert [await queue.get(), await queue.get()] == ["quiet", "noisy"]


@virtual_time
async def test_add_after_keeps_the_earliest_time() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 5)
    queue.add_after("a", 2)
    queue.add_after("a", 9)
    assert await elapsed(queue.get()) == 2
    queue.done("a")
    await asyncio.sleep(20)
    assert len(queue) == 0


@virtual_time
async def test_an_add_makes_a_delayed_key_due_at_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 5)
    queue.add("a")
    assert await elapsed(queue.get()) == 0


@virtual_time
async def test_a_delay_that_ends_while_the_key_is_processed_waits_for_done() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add_after("a", 1)
    await asyncio.sleep(2)
    assert len(queue) == 0
    queue.done("a")
    assert await queue.get() == "a"


@virtual_time
async def test_a_rate_limited_key_waits_longer_each_time_until_it_is_forgotten() -> None:
    queue: WorkQueue[str] = WorkQueue(rate_limiter=ItemExponentialFailureRateLimiter(1, 60))
    waits = []
    for _ in range(3):
        queue.add_rate_limited("a")
        waits.append(await elapsed(queue.get()))
        queue.done("a")
    assert waits == [1, 2, 4]
    assert queue.num_requeues("a") == 3
    queue.forget("a")
    queue.add_rate_limited("a")
    assert await elapsed(queue.get()) == 1


@virtual_time
async def test_higher_priorities_go_first_and_the_highest_of_several_adds_counts() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("resync", priority=LOW_PRIORITY)
    queue.add("changed later", priority=LOW_PRIORITY)
    queue.add("normal")
    queue.add("changed later")
    queue.add("resync", priority=-200)
    got = [await queue.get_with_priority() for _ in range(3)]
    assert got == [("normal", 0), ("changed later", 0), ("resync", LOW_PRIORITY)]


@virtual_time
async def test_the_priority_of_a_rate_limited_key_survives_its_waiting() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_rate_limited("a", priority=5)
    assert await queue.get_with_priority() == ("a", 5)


@virtual_time
async def test_many_priorities_keep_their_order() -> None:
    queue: WorkQueue[int] = WorkQueue()
    for number in range(40):
        queue.add(number, priority=(number * 7) % 40)
    priorities = [(await queue.get_with_priority())[1] for _ in range(40)]
    assert priorities == sorted(priorities, reverse=True)


@virtual_time
async def test_no_key_is_lost_among_many_priorities_and_none_of_them_stays() -> None:
    queue: WorkQueue[int] = WorkQueue()
    for number in range(60):
        queue.add(number, priority=number % 20)
    got = [await queue.get() for _ in range(60)]
    assert sorted(got) == list(range(60))
    assert len(queue._lanes) < 20


@virtual_time
async def test_waiting_workers_get_one_key_each() -> None:
    queue: WorkQueue[str] = WorkQueue()
    async with asyncio.TaskGroup() as tasks:
        workers = [tasks.create_task(queue.get()) for _ in range(2)]
        await settle()
        queue.add("a")
        queue.add("b")
    assert sorted(worker.result() for worker in workers) == ["a", "b"]


@virtual_time
async def test_a_worker_that_is_cancelled_as_it_is_woken_loses_no_key() -> None:
    queue: WorkQueue[str] = WorkQueue()
    first, second = (asyncio.create_task(queue.get()) for _ in range(2))
    await settle()
    queue.add("a")
    first.cancel()
    assert await second == "a"
    assert first.cancelled()


@virtual_time
async def test_shut_down_ends_workers_and_drops_what_is_left() -> None:
    queue: WorkQueue[str] = WorkQueue()
    worker = asyncio.create_task(queue.get())
    await settle()
    queue.shut_down()
    with pytest.raises(QueueShutDown):
        await worker
    queue.add("a")
    queue.add_after("b", 1)
    queue.add_rate_limited("c")
    with pytest.raises(QueueShutDown):
        await queue.get()


@virtual_time
async def test_a_dirty_key_does_not_come_back_after_shut_down() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add("a")
    queue.shut_down()
    queue.done("a")
    assert len(queue) == 0


@virtual_time
async def test_drain_waits_for_processing_and_for_keys_that_come_back() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.add("b")
    await queue.get()
    queue.add("a")
    queue.add_after("never", 1)
    drain = asyncio.create_task(queue.shut_down_with_drain())
    await settle()
    queue.add("too late")
    queue.done("a")
    for key in ("b", "a"):
        assert not drain.done()
        assert await queue.get() == key
        queue.done(key)
    await drain
    with pytest.raises(QueueShutDown):
        await queue.get()


@virtual_time
async def test_a_key_that_was_delayed_and_became_dirty_is_drained_too() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add_after("a", 5)
    queue.add("a")
    drain = asyncio.create_task(queue.shut_down_with_drain())
    await settle()
    queue.done("a")
    assert await queue.get() == "a"
    queue.done("a")
    await drain


@virtual_time
async def test_workers_that_wait_end_with_the_drain() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    waiting = asyncio.create_task(queue.get())
    drains = [asyncio.create_task(queue.shut_down_with_drain()) for _ in range(2)]
    await settle()
    assert not waiting.done()
    queue.done("a")
    await asyncio.gather(*drains)
    with pytest.raises(QueueShutDown):
        await waiting


@virtual_time
async def test_draining_an_empty_queue_ends_its_workers_at_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    worker = asyncio.create_task(queue.get())
    await settle()
    assert await elapsed(queue.shut_down_with_drain()) == 0
    with pytest.raises(QueueShutDown):
        await worker


@virtual_time
async def test_shut_down_ends_a_drain() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("stuck")
    await queue.get()
    drain = asyncio.create_task(queue.shut_down_with_drain())
    await settle()
    queue.shut_down()
    await drain


@virtual_time
async def test_done_of_a_key_that_no_client_has_changes_nothing() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.done("a")
    assert len(queue) == 1


@virtual_time
async def test_long_delays_that_events_overtake_leave_nothing_behind() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for _ in range(1000):
        queue.add_after("a", 36_000)
        queue.add("a")
        await queue.get()
        queue.done("a")
    assert len(queue._delayed) < 100


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_delays_end_in_order_on_every_loop(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def run() -> list[int]:
        queue: WorkQueue[int] = WorkQueue()
        for number in (4, 1, 3, 0, 2):
            queue.add_after(number, 0.0001 + number * 0.002)
        return [await queue.get() for _ in range(5)]

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(run()) == [0, 1, 2, 3, 4]
