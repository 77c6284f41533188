"""The benchmarks run, with tiny numbers, and store what they found."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]


def run(results: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    small = ("--quick", "--n", "20", "--seconds", "0.05", "--results", str(results))
    command = [sys.executable, "-m", "benchmarks", *small, *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple["subprocess.CompletedProcess[str]", Path]:
    results = tmp_path_factory.mktemp("results")
    return run(results), results


def document_in(results: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(next(results.glob("*.json")).read_text())
    return document


def test_every_scenario_has_a_figure_and_no_errors(done: tuple["subprocess.CompletedProcess[str]", Path]) -> None:
    ended, results = done
    assert ended.returncode == 0, ended.stderr
    figures = document_in(results)["figures"]
    assert list(figures) == [scenario.name for scenario in SCENARIOS]
    assert all(figure["value"] > 0 and not figure["errors"] for figure in figures.values())


def test_every_watcher_sees_every_event(done: tuple["subprocess.CompletedProcess[str]", Path]) -> None:
    assert document_in(done[1])["figures"]["watch"]["operations"] == 10 * 2


def test_the_table_and_the_markdown_show_the_reference(
    done: tuple["subprocess.CompletedProcess[str]", Path],
) -> None:
    shown, stored = done[0].stdout, next(done[1].glob("*.md")).read_text()
    assert "2,000/s" in shown
    assert "| create ConfigMap of 1 kB |" in stored


def test_a_scenario_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    ended = run(tmp_path, "--scenarios", "get,fly")
    assert (ended.returncode, "unknown scenarios: fly" in ended.stderr) == (2, True)
