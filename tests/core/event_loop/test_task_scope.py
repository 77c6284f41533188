"""`TaskScope`: tasks that end with their owner."""

import asyncio
import weakref

import pytest

from sampan.core.event_loop.task_scope import TaskScope


async def test_the_end_of_the_block_ends_its_tasks() -> None:
    async with TaskScope() as tasks:
        task = tasks.begin(asyncio.Event().wait())
        await asyncio.sleep(0)
    assert task.cancelled()


async def test_the_end_waits_for_the_clean_up_of_a_task() -> None:
    cleaned = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    async with TaskScope() as tasks:
        tasks.begin(work())
        await asyncio.sleep(0)
    assert cleaned == [True]


async def test_a_failed_task_does_not_affect_another_one() -> None:
    async def fail() -> None:
        raise ValueError("broken")

    async with TaskScope() as tasks:
        failed, other = tasks.begin(fail()), tasks.begin(asyncio.sleep(0, "result"))
        assert await other == "result"
        with pytest.raises(ValueError, match="broken"):
            await failed


async def test_a_task_that_has_ended_is_not_kept() -> None:
    tasks = TaskScope()
    await tasks.begin(asyncio.sleep(0))
    await asyncio.sleep(0)
    assert len(tasks) == 0


async def test_ended_tasks_are_removed_in_batches() -> None:
    tasks, made = TaskScope(), weakref.WeakSet[asyncio.Task[None]]()
    for _ in range(1000):
        made.add(tasks.begin(asyncio.sleep(0)))
        await asyncio.sleep(0)
    assert len(made) < 100


async def test_a_scope_can_be_used_again() -> None:
    tasks = TaskScope()
    await tasks.aclose()
    assert await tasks.begin(asyncio.sleep(0, 1)) == 1
