"""The compactor, with a clock that the test moves."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sampan.storage.compactor import Compactor
from sampan.storage.history.settings import HistorySettings
from sampan.storage.memory import MemoryStore
from sampan.storage.store import Compacted


class Steps:
    """Sleeps that the test ends."""

    def __init__(self) -> None:
        self.requested: list[float] = []
        self._go = asyncio.Semaphore(0)

    async def sleep(self, seconds: float) -> None:
        self.requested.append(seconds)
        await self._go.acquire()

    async def step(self) -> None:
        """Let one interval pass, and its work be done."""
        self._go.release()
        for _ in range(5):
            await asyncio.sleep(0)


class BrokenStore(MemoryStore):
    broken = True

    async def compact(self, revision: int) -> None:
        if self.broken:
            raise OSError("broken")
        await super().compact(revision)


@asynccontextmanager
async def running(store: MemoryStore, steps: Steps) -> AsyncIterator[None]:
    task = asyncio.create_task(Compactor(store, interval_s=300, sleep=steps.sleep).run())
    await asyncio.sleep(0)
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def oldest(store: MemoryStore) -> int:
    """The compact revision."""
    try:
        async with store.watch("/", "0", -1):
            return 0
    except Compacted as error:
        return error.compact_revision


async def test_history_of_the_last_interval_is_kept() -> None:
    store, steps = MemoryStore(), Steps()
    async with running(store, steps):
        await store.create("/a", b"")
        await steps.step()
        assert await oldest(store) == 1
        await store.create("/b", b"")
        await steps.step()
        assert await oldest(store) == 2
        await steps.step()
        assert await oldest(store) == 3
    assert set(steps.requested) == {300}


async def test_an_idle_store_is_left_alone() -> None:
    store, steps = MemoryStore(), Steps()
    async with running(store, steps):
        for _ in range(3):
            await steps.step()
    assert await oldest(store) == 1


async def test_a_failed_compaction_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    store, steps = BrokenStore(), Steps()
    await store.create("/a", b"")
    async with running(store, steps):
        with caplog.at_level(logging.WARNING):
            await steps.step()
        assert "compaction to revision 2 failed" in caplog.text
        store.broken = False
        await steps.step()
    assert await oldest(store) == 2


class SharedMemoryStore(MemoryStore):
    """A store that another server compacts, unless it is this one's turn."""

    my_turn = False

    async def claim_compaction(self, revision: int) -> bool:
        return self.my_turn


async def test_of_a_shared_store_only_the_server_whose_turn_it_is_forgets_history() -> None:
    store, steps = SharedMemoryStore(), Steps()
    await store.create("/a", b"")
    async with running(store, steps):
        await steps.step()
        assert await oldest(store) == 0
        store.my_turn = True
        await steps.step()
    assert await oldest(store) == 2


@asynccontextmanager
async def keeping(store: MemoryStore, steps: Steps, history: HistorySettings) -> AsyncIterator[None]:
    task = asyncio.create_task(Compactor(store, history=history, sleep=steps.sleep).run())
    await asyncio.sleep(0)
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_longer_retention_keeps_the_history_of_that_many_intervals() -> None:
    store, steps = MemoryStore(), Steps()
    await store.create("/a", b"")
    async with keeping(store, steps, HistorySettings(retention_s=900)):
        await steps.step()
        await steps.step()
        assert await oldest(store) == 0
        await steps.step()
    assert await oldest(store) == 2


async def test_a_history_larger_than_its_limit_loses_its_oldest_part_first() -> None:
    store, steps = MemoryStore(), Steps()
    revision = await store.create("/a", b"x" * 600)
    async with keeping(store, steps, HistorySettings(retention_s=86_400, bytes_max=1000)):
        marks = []
        for _ in range(3):
            revision = await store.update("/a", b"x" * 600, revision)
            await steps.step()
            marks.append(revision)
    assert await oldest(store) == marks[1]
    assert set(steps.requested) == {30}


async def test_a_history_within_its_limit_is_kept() -> None:
    store, steps = MemoryStore(), Steps()
    revision = await store.create("/a", b"x" * 600)
    async with keeping(store, steps, HistorySettings(retention_s=86_400, bytes_max=2000)):
        for _ in range(3):
            revision = await store.update("/a", b"x" * 600, revision)
            await steps.step()
    assert await oldest(store) == 0


async def test_the_history_that_was_there_at_the_start_counts_too() -> None:
    store, steps = MemoryStore(), Steps()
    revision = await store.create("/a", b"x" * 600)
    for _ in range(3):
        revision = await store.update("/a", b"x" * 600, revision)
    async with keeping(store, steps, HistorySettings(retention_s=86_400, bytes_max=1000)):
        await steps.step()
    assert await oldest(store) == revision
