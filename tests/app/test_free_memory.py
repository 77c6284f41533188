"""Memory that is not in use goes back to the system."""

import asyncio
import ctypes

import pytest

from sampan.app.free_memory import OBJECTS_A_PERIOD, OBJECTS_MAX, PERIOD_S, FreeMemory, trim
from sampan.testing.virtual_time import virtual_time


@virtual_time
async def test_the_heap_is_trimmed_once_a_period_until_the_end() -> None:
    times: list[float] = []

    async def note() -> None:
        times.append(asyncio.get_running_loop().time())

    await run_for(3.5, FreeMemory(note, collect=lambda: 0))
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

    await run_for(6.5, FreeMemory(trim, note, lambda: objects))
    assert periods == expected


async def run_for(periods: float, free_memory: FreeMemory) -> None:
    task = asyncio.create_task(free_memory.run())
    await asyncio.sleep(periods * PERIOD_S)
    task.cancel()
    await asyncio.wait([task])


def test_a_trim_says_whether_there_was_anything_to_give_back() -> None:
    assert trim() in (True, False)


def test_a_c_library_without_the_function_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert trim() is False
