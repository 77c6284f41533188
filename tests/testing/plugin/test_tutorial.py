"""The tests of docs/testing.md pass."""

import re
from pathlib import Path

import pytest

import sampan.scheduler.set_up
import sampan.testing.pytest_session  # noqa: F401  # as in test_plugin.py

pytest_plugins = ["pytester"]

DOCUMENT = Path(__file__).parents[3] / "docs" / "testing.md"
BLOCK = re.compile(r"^```python\n# (\w+\.py).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_tests_of_the_tutorial_pass(pytester: pytest.Pytester) -> None:
    for name, text in BLOCK.findall(DOCUMENT.read_text()):
        (pytester.path / name).write_text(text)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-p", "no:asyncio")
    result.assert_outcomes(passed=5)
