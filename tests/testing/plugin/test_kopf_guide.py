"""The tests of docs/migrating-from-kopfrunner.md pass, with a kopf operator in the process of the tests."""

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "migrating-from-kopfrunner.md"
BLOCK = re.compile(r"^```python\n# (\w+\.py).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = dict(BLOCK.findall(GUIDE.read_text()))


@pytest.fixture
def short_path() -> Iterator[str]:
    """Return a directory whose path leaves room for the name of a socket."""
    with tempfile.TemporaryDirectory(prefix="sampan-") as directory:
        yield directory


def test_the_tests_of_the_guide_pass(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, short_path: str
) -> None:
    for name, text in BLOCKS.items():
        (pytester.path / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(pytester.path)]))
    monkeypatch.setenv("TMPDIR", short_path)
    monkeypatch.setenv("SAMPAN_TEST_IDLE_S", "1")
    # A process, because handlers of kopf are global.
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-p", "no:asyncio")
    result.assert_outcomes(passed=3)


def test_each_python_block_of_the_guide_has_a_file() -> None:
    assert len(BLOCKS) == GUIDE.read_text().count("```python") == 4
