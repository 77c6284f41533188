"""Virtual time: timers are exact and take no time; waiting for nothing is an error."""

import asyncio
import time

import pytest

from sampan.core.time import SystemClock, format_time, timestamp
from sampan.testing import Deadlock, elapsed, run_virtual, virtual_time


@virtual_time
async def test_an_hour_passes_at_once_and_exactly() -> None:
    began = time.monotonic()
    assert await elapsed(asyncio.sleep(3600)) == 3600
    assert time.monotonic() - began < 300


@virtual_time
async def test_timers_fire_in_their_order() -> None:
    fired: list[int] = []

    async def after(delay_s: int) -> None:
        await asyncio.sleep(delay_s)
        fired.append(delay_s)

    await asyncio.gather(after(30), after(10), after(20))
    assert fired == [10, 20, 30]


def test_waiting_for_what_cannot_come_is_an_error() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Deadlock):
        run_virtual(wait())


@virtual_time
async def test_work_in_a_thread_is_waited_for() -> None:
    assert await asyncio.to_thread(lambda: 7) == 7


@virtual_time
async def test_timestamps_come_from_the_virtual_clock() -> None:
    await asyncio.sleep(3600)
    assert format_time(SystemClock().now()) == timestamp(SystemClock()) == "2030-01-01T01:00:00Z"
