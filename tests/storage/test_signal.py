"""`LoneSignal`: one timer serves all waits."""

import asyncio
import gc
import weakref
from collections.abc import Callable

import pytest
import uvloop

from sampan.storage.signal import LoneSignal

LONG_S = 60.0
SHORT_S = 0.02


class SignalLoop(uvloop.Loop):
    """Event loop of which a test replaces a method."""


async def _after(signal: LoneSignal, timeout_s: float | None) -> "asyncio.Task[bool]":
    waiting = asyncio.create_task(signal.wait(timeout_s))
    await asyncio.sleep(0)
    return waiting


async def test_a_client_that_waits_is_woken() -> None:
    signal = LoneSignal()
    for timeout_s in (None, LONG_S, None, LONG_S):
        waiting = await _after(signal, timeout_s)
        signal.notify()
        assert await waiting


async def test_a_signal_before_the_wait_does_not_end_it() -> None:
    signal = LoneSignal()
    signal.notify()
    assert not await signal.wait(SHORT_S)


async def test_each_wait_ends_after_its_own_time() -> None:
    signal = LoneSignal()
    now = asyncio.get_running_loop().time
    for before_s, timeout_s in ((LONG_S, SHORT_S), (SHORT_S, 4 * SHORT_S), (None, SHORT_S)):
        earlier = await _after(signal, before_s)
        signal.notify()
        assert await earlier
        began = now()
        assert not await asyncio.wait_for(signal.wait(timeout_s), 10)
        assert now() - began >= timeout_s


async def test_an_expired_timeout_does_not_wake_a_later_wait() -> None:
    signal = LoneSignal()
    earlier = await _after(signal, SHORT_S)
    signal.notify()
    await earlier
    waiting = await _after(signal, None)
    await asyncio.sleep(4 * SHORT_S)
    assert not waiting.done()
    signal.notify()
    assert await waiting


async def test_a_client_that_gives_up_is_not_woken() -> None:
    signal = LoneSignal()
    (await _after(signal, LONG_S)).cancel()
    await asyncio.sleep(0)
    signal.notify()
    assert not await signal.wait(SHORT_S)


async def test_nothing_is_left_of_one_that_is_closed() -> None:
    class Known(LoneSignal):
        """Can be looked for."""

    signal = Known()
    waiting = await _after(signal, LONG_S)
    signal.notify()
    await waiting
    signal.close()
    known = weakref.ref(signal)
    del signal, waiting
    await asyncio.sleep(0)
    gc.collect()
    assert known() is None


def test_a_timer_that_fires_early_is_not_set_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def time_out(waits: int) -> int:
        signal, timers = LoneSignal(), 0
        call_at = asyncio.get_running_loop().call_at

        def counted(when: float, call: Callable[[], object]) -> asyncio.TimerHandle:
            nonlocal timers
            timers += 1
            return call_at(when, call)

        monkeypatch.setattr(SignalLoop, "call_at", staticmethod(counted), raising=False)
        for _ in range(waits):
            assert not await signal.wait(SHORT_S / 2 + 0.0004)  # uvloop rounds it down to whole milliseconds
        return timers

    with asyncio.Runner(loop_factory=SignalLoop) as runner:
        assert runner.run(time_out(10)) <= 20
