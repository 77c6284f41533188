"""Offload computations: small requests compute on the loop, large ones in a thread that cancellation interrupts."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from unittest.mock import MagicMock

import pytest

from sampan.core.event_loop.offload import (
    HUGE_BYTES,
    INLINE_STEPS_MAX,
    LARGE_BYTES,
    Interrupted,
    Offload,
    TakeThread,
    _Job,
    begin_work,
    count_steps,
    note_size,
    offloaded,
    steps_left,
)


def on_the_loop() -> bool:
    return threading.current_thread() is threading.main_thread()


async def test_a_small_request_computes_on_the_loop() -> None:
    begin_work(Offload())
    note_size(LARGE_BYTES - 1)
    assert await offloaded(on_the_loop)


async def test_a_large_request_computes_in_a_thread() -> None:
    begin_work(Offload())
    note_size(LARGE_BYTES // 2)
    note_size(LARGE_BYTES // 2)
    assert not await offloaded(on_the_loop)


async def test_without_a_server_everything_computes_on_the_loop() -> None:
    note_size(LARGE_BYTES)
    assert await offloaded(on_the_loop)


async def test_errors_of_a_thread_reach_the_caller() -> None:
    begin_work(Offload())
    note_size(LARGE_BYTES)
    with pytest.raises(ValueError, match="invalid literal"):
        await offloaded(int, "x")


async def test_small_request_with_many_steps_restarts_in_a_thread() -> None:
    begin_work(Offload())
    places: list[bool] = []

    def compute() -> None:
        places.append(on_the_loop())
        left = steps_left()
        if left is not None and left < 2 * INLINE_STEPS_MAX:
            raise TakeThread

    await offloaded(compute)
    assert places == [True, False]


async def test_steps_are_counted_for_one_computation() -> None:
    begin_work(Offload())

    def compute() -> int | None:
        count_steps(5)
        return steps_left()

    assert [await offloaded(compute), await offloaded(compute)] == [INLINE_STEPS_MAX - 5] * 2


async def test_a_cancelled_request_interrupts_its_computation() -> None:
    begin_work(Offload())
    note_size(LARGE_BYTES)
    begun, interrupted = threading.Event(), threading.Event()

    def compute() -> None:
        begun.set()
        try:
            while True:
                pass
        except Interrupted:
            interrupted.set()
            raise

    task = asyncio.ensure_future(offloaded(compute))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(interrupted.wait, 60)


async def test_an_interruption_that_is_lost_in_a_finalizer_is_repeated() -> None:
    begin_work(Offload())
    note_size(LARGE_BYTES)
    begun, interrupted = threading.Event(), threading.Event()

    def compute() -> None:
        begun.set()
        for after in (None, interrupted):
            try:
                while True:
                    pass
            except Interrupted:  # Python drops the first one in the same way
                if after is not None:
                    after.set()

    task = asyncio.ensure_future(offloaded(compute))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(interrupted.wait, 60)


async def test_an_interruption_that_arrives_at_the_end_of_a_job_does_not_reach_the_next_one() -> None:
    job = _Job(contextvars.copy_context(), int, ("5",))
    job._lock = MagicMock()
    job._lock.__enter__.side_effect = [None, Interrupted, None]
    job._lock.__exit__.return_value = False
    assert job.run() == 5
    job._lock = threading.Lock()
    assert not job.interrupt(), "the thread is not interrupted any more"


async def test_computation_that_is_interrupted_before_it_begins_does_not_run() -> None:
    job = _Job(contextvars.copy_context(), pytest.fail, ("it ran",))
    assert not job.interrupt()
    with pytest.raises(Interrupted):
        job.run()


async def test_thread_serves_other_requests_after_an_interruption() -> None:
    offload = Offload(threads_max=1)
    begin_work(offload)
    note_size(LARGE_BYTES)
    begun = threading.Event()

    def compute() -> None:
        begun.set()
        while True:
            pass

    for _ in range(20):
        begun.clear()
        task = asyncio.ensure_future(offloaded(compute))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await offloaded(int, "5") == 5


async def test_huge_requests_that_take_all_their_threads_do_not_hold_up_large_ones() -> None:
    offload, end = Offload(threads_max=1), threading.Event()

    async def request(size_bytes: int, function: Callable[[], object]) -> object:
        begin_work(offload)
        note_size(size_bytes)
        return await offloaded(function)

    huge = [asyncio.create_task(request(HUGE_BYTES, end.wait)) for _ in range(2)]
    try:
        assert await asyncio.create_task(request(LARGE_BYTES, on_the_loop)) is False
    finally:
        end.set()
        await asyncio.gather(*huge)
