"""Events whose map function raises are tried again, and bound the memory of their source."""

import asyncio
from collections.abc import Iterable

import pytest

from sampan.operator.failures.failed_events import FailedEvents
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request
from sampan.operator.source import ChannelSource
from sampan.testing.time.virtual_time import virtual_time


@virtual_time
async def test_an_event_of_a_channel_is_mapped_again_after_an_error() -> None:
    attempts: list[str] = []

    def mapped(event: str) -> Iterable[Request]:
        attempts.append(event)
        if attempts.count(event) < 3:
            raise LookupError("no crew")
        return [Request("", event)]

    queue: WorkQueue[Request] = WorkQueue("boats")
    source: ChannelSource[str] = ChannelSource(mapped)
    running = asyncio.create_task(source.run(queue, synced=asyncio.Event()))
    await source.put("ada")
    async with asyncio.timeout(10):
        assert await queue.get() == Request("", "ada")
    running.cancel()
    await asyncio.wait({running})
    assert attempts == ["ada"] * 3


@pytest.mark.parametrize("size_max", [0, 2], ids=["without a limit", "with a limit"])
@virtual_time
async def test_a_channel_reads_on_after_each_event(size_max: int) -> None:
    queue: WorkQueue[Request] = WorkQueue("boats")
    source: ChannelSource[str] = ChannelSource(lambda event: [Request("", event)], size_max=size_max)
    running = asyncio.create_task(source.run(queue, synced=asyncio.Event()))
    async with asyncio.timeout(10):
        for name in ("ada", "bea", "cleo"):
            await source.put(name)
            assert (await queue.get()).name == name
    running.cancel()
    await asyncio.wait({running})


@virtual_time
async def test_an_object_has_at_most_its_first_and_its_newest_failed_event() -> None:
    failed: FailedEvents[str] = FailedEvents("boats", "tests")
    broken, done = True, []

    def event(number: int) -> None:
        if broken:
            raise LookupError("no crew")
        done.append(number)

    for number in range(5):
        failed.attempt("ada", lambda number=number: event(number))  # type: ignore[misc]
    broken = False
    running = asyncio.create_task(failed.run())
    await asyncio.sleep(10)
    running.cancel()
    await asyncio.wait({running})
    assert done == [0, 4]
