"""Projects in examples declare each right that they use: the role of `sampan deploy` is large enough."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.test_projects import PROJECTS
from tests.user_environment import user_environment

_SAMPAN = (sys.executable, "-m", "sampan")
_TESTS = ("-q", "-p", "no:cacheprovider", "-p", "no:asyncio")
_EXPLORATIONS = ("--ignore=tests/test_faults.py", "--ignore=tests/test_never_two.py")


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_an_example_declares_each_right_that_its_tests_use(project: Path) -> None:
    environment = user_environment()
    command = [*_SAMPAN, "test", "privileges", "--declared", *_TESTS, *_EXPLORATIONS]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert "[100%]" in done.stderr, done.stdout + done.stderr
    assert "tests failed" not in done.stderr, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("+ ")] == []
