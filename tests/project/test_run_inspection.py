"""`sampan run --time-scale`, `--profile` and `--debugpy`."""

import asyncio
import pstats
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sampan.project.running.inspection import profiled
from sampan.project.running.session import RunOptions
from sampan.testing.time.scaled_time import ScaledTimeLoop
from tests.project.conftest import Sampan
from tests.project.test_run import fleet, running

__all__ = ["fleet"]
FOUR_HOURS_S = 14_400
HOURLY = """\
from sampan.core.clock import monotonic
from sampan.operator import Builder, Manager, Request, Result

from boats.boat.v1 import Boat

RUNS: list[float] = []


def set_up(manager: Manager) -> None:
    async def reconcile(request: Request) -> Result:
        RUNS.append(monotonic())
        return Result(requeue_after_s=3600)

    Builder(manager).for_(Boat).complete(reconcile)
"""


def test_hours_pass_within_seconds(fleet: Path) -> None:
    (fleet / "src/boats/boat/reconcile.py").write_text(HOURLY)

    async def hours() -> list[float]:
        async with running(fleet, RunOptions(time_scale=36_000)) as session:
            await session.boat()
            await asyncio.sleep(FOUR_HOURS_S)
            return list(sys.modules["boats.boat.reconcile"].RUNS)

    with asyncio.Runner(loop_factory=partial(ScaledTimeLoop, 36_000)) as runner:
        runs = runner.run(hours())
    assert len(runs) >= 4
    assert all(3600 <= round(later - earlier, 6) < 4000 for earlier, later in zip(runs[-3:], runs[-2:], strict=False))


def test_a_profile_has_the_functions_of_the_block(tmp_path: Path) -> None:
    lines: list[str] = []
    with profiled(tmp_path, lines.append):
        sorted(range(10))
    assert "built-in method builtins.sorted" in lines[0]
    stats: Any = pstats.Stats(str(tmp_path / ".sampan/run/profile.pstats"))
    assert stats.total_calls >= 1


def test_without_the_option_nothing_is_measured(tmp_path: Path) -> None:
    lines: list[str] = []
    with profiled(None, lines.append):
        pass
    assert (lines, list(tmp_path.iterdir())) == ([], [])


def test_the_clock_of_a_cluster_cannot_be_scaled(boats: Path, sampan: Sampan) -> None:
    result = sampan("run", "--context", "kind-x", "--time-scale", "60", folder=boats)
    assert "the clock of a cluster cannot be changed" in str(result.exception)


def test_a_debugger_that_is_not_installed_is_one_error(
    boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "debugpy", None)
    assert "pip install debugpy" in str(sampan("run", "--debugpy", folder=boats).exception)


def test_a_port_that_is_taken_is_one_error(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[tuple[str, int]] = []

    def listen(address: tuple[str, int]) -> None:
        addresses.append(address)
        raise OSError("Address already in use")

    monkeypatch.setitem(sys.modules, "debugpy", SimpleNamespace(listen=listen))
    assert "port 5678: Address already in use" in str(sampan("run", "--debugpy", folder=boats).exception)
    assert "port 77" in str(sampan("run", "--debugpy", "77", folder=boats).exception)
    assert addresses == [("127.0.0.1", 5678), ("127.0.0.1", 77)]
