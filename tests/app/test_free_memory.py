"""Memory that is not in use goes back to the system."""

import asyncio
import ctypes

import pytest

from sampan.app.free_memory import PERIOD_S, FreeMemory, trim
from sampan.testing.virtual_time import virtual_time


@virtual_time
async def test_the_heap_is_trimmed_once_a_period_until_the_end() -> None:
    times: list[float] = []

    def note() -> bool:
        times.append(asyncio.get_running_loop().time())
        return True

    task = asyncio.create_task(FreeMemory(note).run())
    await asyncio.sleep(3.5 * PERIOD_S)
    task.cancel()
    await asyncio.wait([task])
    assert times == [PERIOD_S, 2 * PERIOD_S, 3 * PERIOD_S]


def test_a_trim_says_whether_there_was_anything_to_give_back() -> None:
    assert trim() in (True, False)


def test_a_c_library_without_the_function_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert trim() is False
