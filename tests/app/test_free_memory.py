"""Memory that is not in use goes back to the system."""

import asyncio
import ctypes
import gc
import itertools
import subprocess
import sys

import pytest

from sampan.app.free_memory import (
    CHECK_S,
    GROWTH_BYTES,
    IDLE_PERIODS_MAX,
    OBJECTS_A_PERIOD,
    OBJECTS_MAX,
    PERIOD_S,
    FreeMemory,
    heap_bytes,
    limit_fragmentation,
    partial_looks,
    trim,
    unused_bytes,
)
from sampan.testing.time.virtual_time import virtual_time


async def none() -> int:
    return 0


@virtual_time
async def test_the_heap_is_trimmed_once_a_period_until_the_end() -> None:
    times: list[float] = []

    async def note() -> None:
        times.append(asyncio.get_running_loop().time())

    await run_for(3.5, FreeMemory(note, collect=lambda: 0, unused=none))
    assert times == [PERIOD_S, 2 * PERIOD_S, 3 * PERIOD_S]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param(OBJECTS_A_PERIOD, [1, 2, 3, 4, 5, 6], id="few"),
        pytest.param(3 * OBJECTS_A_PERIOD, [3, 6], id="three times as many"),
        pytest.param(OBJECTS_MAX + 1, [], id="too many"),
    ],
)
@virtual_time
async def test_all_objects_are_looked_at_less_often_if_they_are_many(objects: int, expected: list[int]) -> None:
    periods: list[int] = []

    async def trim() -> None:
        pass

    def note() -> None:
        periods.append(round(asyncio.get_running_loop().time() / PERIOD_S))

    free_memory = FreeMemory(trim, note, lambda: objects, itertools.count().__next__, freeze=lambda: 0, unused=none)
    await run_for(6.5, free_memory)
    assert periods == expected


@virtual_time
async def test_an_idle_process_looks_at_all_objects_once_in_many_periods() -> None:
    periods: list[int] = []

    async def trim() -> None:
        pass

    def note() -> None:
        periods.append(round(asyncio.get_running_loop().time() / PERIOD_S))

    await run_for(IDLE_PERIODS_MAX + 1.5, FreeMemory(trim, note, lambda: 1, lambda: 5, none))
    assert periods == [1, 1 + IDLE_PERIODS_MAX]


def test_new_objects_make_the_collector_look() -> None:
    before = partial_looks()
    retained: list[list[int]] = [[] for _ in range(20 * gc.get_threshold()[0])]
    assert partial_looks() > before, len(retained)


@virtual_time
async def test_very_many_objects_are_frozen_and_newer_ones_are_collected() -> None:
    objects, steps = [OBJECTS_MAX + 1], []

    async def trim() -> None:
        pass

    def freeze() -> None:
        steps.append("freeze")
        objects[0] = 1000

    def collect() -> None:
        steps.append("collect")

    looks = itertools.count().__next__
    await run_for(3.5, FreeMemory(trim, collect, lambda: objects[0], looks, none, freeze))
    assert steps == ["freeze", "collect", "collect"]


@virtual_time
async def test_the_heap_is_trimmed_soon_after_much_memory_was_freed() -> None:
    times: list[float] = []
    now = asyncio.get_running_loop().time

    async def trim() -> None:
        times.append(now())

    async def unused() -> int:
        return 2 * GROWTH_BYTES if now() > CHECK_S and not times else 0

    await run_for(0.9, FreeMemory(trim, lambda: 0, unused=unused))
    assert times == [2 * CHECK_S]


@virtual_time
async def test_memory_that_is_used_again_and_freed_again_is_trimmed() -> None:
    times: list[float] = []
    now = asyncio.get_running_loop().time

    async def trim() -> None:
        times.append(now())

    async def unused() -> int:
        """Return much that cannot be returned, except at the first check and from the fourth to the sixth."""
        return 0 if now() <= CHECK_S or 4 * CHECK_S <= now() <= 6 * CHECK_S else 2 * GROWTH_BYTES

    await run_for(0.9, FreeMemory(trim, lambda: 0, unused=unused))
    assert times == [2 * CHECK_S, 7 * CHECK_S]


@virtual_time
async def test_caches_forget_what_is_unused_at_each_check() -> None:
    times: list[float] = []

    async def trim() -> None:
        pass

    await run_for(4.5 * CHECK_S / PERIOD_S, FreeMemory(trim, lambda: 0, unused=none, forget_unused=times.append))
    assert times == [CHECK_S, 2 * CHECK_S, 3 * CHECK_S, 4 * CHECK_S]


def test_blocks_in_use_are_not_unused() -> None:
    before, unused = heap_bytes(), unused_bytes()
    retained = [bytes(5000) for _ in range(4000)]
    assert heap_bytes() - before > 0.9 * sum(map(len, retained))
    assert unused_bytes() - unused < 0.5 * sum(map(len, retained))


async def run_for(periods: float, free_memory: FreeMemory) -> None:
    task = asyncio.create_task(free_memory.run())
    await asyncio.sleep(periods * PERIOD_S)
    task.cancel()
    await asyncio.wait([task])


def test_a_trim_reports_whether_there_was_anything_to_give_back() -> None:
    assert trim() in (True, False)


def test_all_threads_share_one_heap() -> None:
    code = """
import re, threading
from sampan.app.free_memory import limit_fragmentation
limit_fragmentation() or exit("no mallopt")
libc = __import__("ctypes").CDLL(None)
threads = [threading.Thread(target=libc.malloc, args=(4000,)) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.malloc_info(0, __import__("ctypes").c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if "no mallopt" in done.stderr:
        pytest.skip("the C library has no mallopt")
    assert (done.stdout.count("<heap nr="), done.stderr) == (1, "")


def test_a_c_library_without_the_functions_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert trim() is False
    assert heap_bytes() == 0
    assert limit_fragmentation() is False
