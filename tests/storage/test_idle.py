"""Deferred work runs when the event loop is idle."""

import asyncio
import time

from sampan.storage.idle import when_idle

BUSY_S = 0.002
DEADLINE_S = 30.0


class Work:
    """Keeps the event loop busy for some turns."""

    def __init__(self, iterations: int) -> None:
        self.left = iterations
        self._turn()

    def _turn(self) -> None:
        if self.left:
            time.sleep(BUSY_S)
            self.left -= 1
            asyncio.get_running_loop().call_soon(self._turn)


async def _left_when_called(work: Work, within_s: float) -> int:
    """Return how much of the work was left at the call."""
    called: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    when_idle(lambda: called.set_result(work.left), within_s)
    async with asyncio.timeout(DEADLINE_S):
        return await called


async def test_deferred_work_waits_for_all_other_work() -> None:
    assert await _left_when_called(Work(20), 10.0) == 0


async def test_deferred_work_starts_at_the_latest_at_its_deadline() -> None:
    within_s, began = 10 * BUSY_S, time.monotonic()
    left = await _left_when_called(Work(10_000), within_s)
    assert (left > 0, time.monotonic() - began >= within_s) == (True, True)


async def test_deferred_work_starts_soon_when_the_loop_is_idle() -> None:
    began = time.monotonic()
    await _left_when_called(Work(0), 10.0)
    assert time.monotonic() - began < 5.0
