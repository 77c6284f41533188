"""The operator of docs/testing-tutorial.md has the findings of each step, and its repairs have none."""

import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import sampan.scheduler.set_up
import sampan.testing.pytest_session  # noqa: F401  # as in test_plugin.py
from sampan.cli.test_server.explore import explore_command

pytest_plugins = ["pytester"]

TEXT = (Path(__file__).parents[3] / "docs" / "testing-tutorial.md").read_text()
BLOCK = re.compile(r"^```(?:python|yaml)\n# ([\w-]+\.(?:py|yaml)).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(TEXT)
RECONCILER = "reconciler.py"
UNTESTED, QUIET, REPAIRED = (text for name, text in BLOCKS if name == RECONCILER)
TESTS = {"test_1_run": 1, "test_2_state": 1, "test_3_quiet": 1, "test_4_fault": 2, "test_6_regression": 1}


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, text in BLOCKS:
        (pytester.path / name).write_text(text)
    monkeypatch.syspath_prepend(pytester.path)
    yield pytester.path
    logging.disable(logging.NOTSET)
    for name, _ in BLOCKS:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.mark.parametrize(
    ("reconciler", "failing"),
    [(UNTESTED, {"test_3_quiet", "test_6_regression"}), (QUIET, {"test_6_regression"}), (REPAIRED, set())],
    ids=["untested", "quiet", "repaired"],
)
def test_each_repair_makes_the_test_of_its_step_pass(
    pytester: pytest.Pytester, folder: Path, reconciler: str, failing: set[str]
) -> None:
    (folder / RECONCILER).write_text(reconciler)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-p", "no:asyncio")
    result.assert_outcomes(passed=sum(TESTS[name] for name in TESTS.keys() - failing), failed=len(failing))
    if reconciler == UNTESTED:
        shown = next(line.strip() for line in TEXT.splitlines() if "databases/shop changed by operator" in line)
        result.stdout.fnmatch_lines([f"*{shown.partition(' ')[2].partition('=')[0]}=*"])


@pytest.mark.parametrize(("reconciler", "findings"), [(QUIET, 5), (REPAIRED, 0)], ids=["quiet", "repaired"])
def test_exploration_finds_what_the_page_shows(folder: Path, reconciler: str, findings: int) -> None:
    (folder / RECONCILER).write_text(reconciler)
    found = CliRunner().invoke(explore_command, [str(folder / "scenarios.py")], standalone_mode=False)
    lines = found.output.splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith(" with another end"))
    assert lines[at].endswith(f", {findings} with another end")
    assert not findings or "\n".join(lines[at + 2 : at + 4]) in TEXT.replace("\n    ", "\n")


def test_each_python_block_has_a_file() -> None:
    assert sum(name.endswith(".py") for name, _ in BLOCKS) == TEXT.count("```python")
