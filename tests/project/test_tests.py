"""`sampan test` in a folder of a project."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.conftest import Sampan


@pytest.mark.parametrize(
    ("folder", "arguments", "count"),
    [
        ("src/boats", ("--tb=short",), 4),
        ("src/boats", ("-k", "boat"), 3),
        ("tests", ("test_operator.py",), 1),
        ("tests", ("test_boat.py::test_a_restart_changes_nothing",), 1),
    ],
    ids=["options", "name", "path", "test"],
)
def test_a_folder_of_a_project_runs_the_tests_of_the_project(
    boats: Path, sampan: Sampan, folder: str, arguments: tuple[str, ...], count: int
) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    command = [sys.executable, "-m", "sampan.cli", "test", *arguments, "--collect-only", "-q"]
    done = subprocess.run(command, cwd=boats / folder, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if line.count("::") == 1]
    assert len(found) == count, done.stdout + done.stderr
