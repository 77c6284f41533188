"""Components of a server: their order, and their end."""

import asyncio

import pytest

from sampan.app import keep_running
from sampan.app.components import Component, running


class Part:
    """Notes when it starts and ends."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name, self._log = name, log

    async def run(self) -> None:
        self._log.append(f"+{self._name}")
        try:
            await asyncio.Event().wait()
        finally:
            self._log.append(f"-{self._name}")


async def test_components_start_in_their_order_and_end_with_the_block() -> None:
    log: list[str] = []
    async with running([Component(name, Part(name, log).run) for name in "abc"]):
        await asyncio.sleep(0)
        assert log == ["+a", "+b", "+c"]
    assert sorted(log[3:]) == ["-a", "-b", "-c"]


async def test_component_waits_for_its_event() -> None:
    log: list[str] = []
    ready = asyncio.Event()
    async with running([Component("a", Part("a", log).run, after=ready)]):
        await asyncio.sleep(0)
        assert log == []
        ready.set()
        await asyncio.sleep(0)
        assert log == ["+a"]


async def test_component_that_fails_ends_all_components_and_the_block() -> None:
    log: list[str] = []

    async def fail() -> None:
        raise OSError("broken")

    with pytest.raises(ExceptionGroup) as raised:
        async with running([Component("a", Part("a", log).run), Component("b", fail)]):
            await asyncio.Event().wait()
    assert raised.group_contains(OSError, match="broken")
    assert log == ["+a", "-a"]


async def test_component_with_restart_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keep_running, "PAUSE_S", 0.0)
    runs: list[int] = []
    again = asyncio.Event()

    async def fail_once() -> None:
        runs.append(1)
        if len(runs) == 1:
            raise OSError("broken")
        again.set()

    async with running([Component("a", fail_once, restart=True)]):
        await again.wait()
    assert len(runs) == 2


async def test_component_that_returns_does_not_end_another_one() -> None:
    async def nothing() -> None:
        pass

    log: list[str] = []
    async with running([Component("a", nothing), Component("b", Part("b", log).run)]):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert log == ["+b"]
