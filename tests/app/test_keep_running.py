"""Loops of the server that fail."""

import asyncio
import itertools

import pytest

from sampan.app.keep_running import PAUSE_MAX_S, PAUSE_S, keep_running
from sampan.storage.store import Untransformable
from sampan.testing.time.virtual_time import virtual_time


@virtual_time
async def test_a_loop_that_fails_is_begun_again_after_a_growing_pause(caplog: pytest.LogCaptureFixture) -> None:
    begun: list[float] = []

    async def fails_ten_times() -> None:
        begun.append(asyncio.get_running_loop().time())
        if len(begun) <= 10:
            raise ValueError("the store is away")

    await keep_running("flow control", fails_ten_times)
    pauses = [after - before for before, after in itertools.pairwise(begun)]
    assert pauses[0] == pytest.approx(PAUSE_S)
    assert pauses[-1] == pytest.approx(PAUSE_MAX_S)
    assert "flow control failed; restarting in 1 s" in caplog.text
    assert "the store is away" in caplog.text


@virtual_time
async def test_an_encrypted_value_that_cannot_be_read_is_logged_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun: list[None] = []

    async def fails_once() -> None:
        begun.append(None)
        if len(begun) == 1:
            raise Untransformable("it is encrypted")

    await keep_running("a loop", fails_once)
    [record] = caplog.records
    assert record.getMessage() == "a loop failed; restarting in 1 s: it is encrypted"
    assert not record.exc_info


async def test_it_ends_by_cancellation() -> None:
    begun = asyncio.Event()

    async def goes_on() -> None:
        begun.set()
        await asyncio.get_running_loop().create_future()

    task = asyncio.create_task(keep_running("a loop", goes_on))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
