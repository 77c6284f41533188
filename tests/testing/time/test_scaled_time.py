"""The event loop of `sampan run --time-scale`."""

import asyncio
import selectors
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from sampan.core.clock import monotonic, unix_time, utc_now
from sampan.testing.time import scaled_time
from sampan.testing.time.scaled_time import SILENCE_S, ScaledTimeLoop, _ScaledSelector

SCALE = 3600.0


class FakeTime(selectors.DefaultSelector):
    """A selector whose waits are instant, and the clock that they advance."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 100.0
        self.ready: list[Any] = []

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "an endless wait"
        if self.ready:
            return [(self.ready.pop(), selectors.EVENT_READ)]
        self.now_s += timeout
        return []


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(scaled_time, "perf_counter", lambda: fake.now_s)
    return fake


@pytest.fixture
def selector(real: FakeTime) -> Iterator[_ScaledSelector]:
    """Return a selector with the pipe of its loop, and a connection."""
    made = _ScaledSelector(real, SCALE)
    pipe, connection = socket.socketpair()
    with pipe, connection:
        made.register(pipe, selectors.EVENT_READ)
        made.register(connection, selectors.EVENT_READ)
        yield made
        made.close()


def message(real: FakeTime, selector: _ScaledSelector) -> None:
    """Let another process send something."""
    real.ready.append(list(selector.get_map().values())[1])
    assert len(selector.select(10.0)) == 1


def test_a_wait_takes_its_scaled_part_of_real_time(selector: _ScaledSelector, real: FakeTime) -> None:
    assert selector.select(36.0) == []
    assert selector.elapsed_s == pytest.approx(36.0)
    assert real.now_s == pytest.approx(100.01)


def test_a_long_wait_is_cut_into_pieces(selector: _ScaledSelector, real: FakeTime) -> None:
    selector.select(86_400.0)
    assert selector.elapsed_s == pytest.approx(360.0)
    selector.select(None)
    assert selector.elapsed_s == pytest.approx(720.0)


def test_the_clock_is_real_until_other_processes_are_silent(selector: _ScaledSelector, real: FakeTime) -> None:
    message(real, selector)
    assert selector.elapsed_s == 0.0
    selector.select(10.0)
    assert selector.elapsed_s == pytest.approx(SILENCE_S)
    selector.select(36.0)
    assert selector.elapsed_s == pytest.approx(SILENCE_S + 36.0)


def test_the_pipe_of_the_loop_is_no_message(selector: _ScaledSelector, real: FakeTime) -> None:
    real.ready.append(next(iter(selector.get_map().values())))
    selector.select(10.0)
    selector.select(36.0)
    assert selector.elapsed_s == pytest.approx(36.0)


def test_all_clocks_of_the_loop_are_scaled() -> None:
    async def run() -> None:
        began, began_s, at_s = utc_now(), monotonic(), unix_time()
        await asyncio.sleep(86_400)
        assert (utc_now() - began).total_seconds() >= 86_400
        assert monotonic() - began_s >= 86_400
        assert unix_time() - at_s >= 86_400

    with asyncio.Runner(loop_factory=partial(ScaledTimeLoop, 1e6)) as runner:
        runner.run(run())


def test_time_stands_still_while_a_thread_works() -> None:
    async def run() -> float:
        began_s = monotonic()
        await asyncio.to_thread(socket.gethostname)
        return monotonic() - began_s

    with asyncio.Runner(loop_factory=partial(ScaledTimeLoop, 1e6)) as runner:
        assert runner.run(run()) == 0.0
