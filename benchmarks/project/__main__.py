"""`python -m benchmarks.project` (also `python -m benchmarks --project`): the speed of the commands on projects.

Each command is a process, from its start to its end. A reload counts from the saved file to the changed object.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from benchmarks.project.images import build_figures
from benchmarks.report import machine, report, store_table
from sampan.client import ClientError, connect

RESULTS = Path(__file__).parents[1] / "results"
GOALS: Final = {
    "init": 1.0,
    "create api": 1.0,
    "start of run": 5.0,
    "reload": 1.0,
    "upgrade": 1.0,
    "bundle": 2.0,
    "first build": 10.0,
    "second build": 1.0,
}
"""Goal of each figure, in seconds."""
_WITHIN_S: Final = 30.0
_LOOK_S: Final = 0.01


def sampan(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> float:
    """Run a command and return its time in seconds."""
    command = [sys.executable, "-m", "sampan", *arguments]
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


async def measure(folder: Path) -> dict[str, float]:
    """Return the figures of one new project."""
    root = folder / "boats"
    figures = {"init": sampan(folder, "init", "boats")}
    figures["create api"] = sampan(root, "create", "api", "--kind", "Boat", "--field", "length:int>0")
    began = time.perf_counter()
    async with running(root):
        await _until_reason(root, "Reconciled")
        figures["start of run"] = time.perf_counter() - began
        place = root / "src/boats/boat/reconcile.py"
        text = place.read_text()
        began = time.perf_counter()
        place.write_text(text.replace('reason="Reconciled"', 'reason="Measured"'))
        await _until_reason(root, "Measured")
        figures["reload"] = time.perf_counter() - began
        place.write_text(text)
    figures["upgrade"] = sampan(root, "upgrade", "--force")
    figures["bundle"] = sampan(root, "bundle", "--format", "all", "--image", "registry.invalid/boats")
    return figures | build_figures(folder, sampan)


@asynccontextmanager
async def running(root: Path) -> AsyncIterator[None]:
    """Run the project in another process during the block."""
    command = (sys.executable, "-m", "sampan", "run", "--log-level", "error")
    process = await asyncio.create_subprocess_exec(*command, cwd=root, stdout=subprocess.DEVNULL)
    try:
        async with asyncio.timeout(_WITHIN_S):
            while not (root / ".sampan/run/kubeconfig").exists():  # noqa: ASYNC110  (of another process)
                await asyncio.sleep(_LOOK_S)
        yield
    finally:
        process.terminate()
        await process.wait()


async def _until_reason(root: Path, reason: str) -> None:
    """Wait until the condition of the sample has a reason."""
    async with connect(root / ".sampan/run/kubeconfig") as client, asyncio.timeout(_WITHIN_S):
        while True:
            try:
                boat = await (await client.resource_for("boats")).get("example")
                if reason in json.dumps(boat.get("status") or {}):
                    return
            except ClientError:
                client.mapper.invalidate()  # the kind, or the object, is not there yet
            await asyncio.sleep(_LOOK_S)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure several projects, and store the best figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.project", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="the best of so many projects (3)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    given = parser.parse_args(arguments)
    best = best_of(given.runs, lambda folder: asyncio.run(measure(folder)))
    for name, seconds in best.items():
        report(f"{name:14} {seconds:6.2f} s   goal {GOALS[name]:g} s")
    report(f"stored in {store(best, machine() | {'runs': f'{given.runs}, the best counts'}, given.results)}")
    return 0


def best_of(runs: int, measured: Callable[[Path], Mapping[str, float]]) -> dict[str, float]:
    """Return the smallest figures of some runs, each in a new folder."""
    best: dict[str, float] = {}
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="sampan-bench-") as folder:
            for name, seconds in measured(Path(folder)).items():
                best[name] = min(seconds, best.get(name, seconds))
    return best


def store(figures: Mapping[str, float], about: Mapping[str, str], directory: Path) -> Path:
    """Write the results as Markdown and JSON, named by the time. Return the path of the Markdown file."""
    rows = [(name, f"{value:.2f} s", f"{GOALS[name]:g} s") for name, value in figures.items()]
    return store_table("projects", figures, [("command", "Sampan", "goal"), *rows], about, directory / "project")


if __name__ == "__main__":
    sys.exit(main())
