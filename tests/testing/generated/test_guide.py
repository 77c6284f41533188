"""The examples of docs/generated-objects.md run, and print what the page shows."""

import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import sampan.scheduler.set_up
import sampan.testing.pytest_session  # noqa: F401  # loaded before pytester's plug-ins count the modules
from sampan.cli.test_server.campaign import campaign_command
from sampan.testing.generated import invalid_objects

pytest_plugins = ["pytester"]

GUIDE = Path(__file__).parents[3] / "docs" / "generated-objects.md"
BLOCK = re.compile(r"^```python\n# (\w+\.py).*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = dict(BLOCK.findall(GUIDE.read_text()))


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    logging.disable(logging.NOTSET)
    sys.modules.pop("lakes", None)


def test_the_tests_of_the_guide_pass(pytester: pytest.Pytester) -> None:
    for name, text in BLOCKS.items():
        (pytester.path / name).write_text(text)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-p", "no:asyncio")
    result.assert_outcomes(passed=5 + len(invalid_objects("Service")))


def test_the_command_prints_the_finding_of_the_guide(tmp_path: Path) -> None:
    file = tmp_path / "lakes.py"
    file.write_text(BLOCKS["lakes.py"])
    found = CliRunner().invoke(campaign_command, [str(file), "--first"], standalone_mode=False)
    assert found.return_value == 1
    lines = found.output.splitlines()
    assert lines[0].startswith("lakes: ")
    at = next(number for number, line in enumerate(lines) if line.startswith("spec.depth: "))
    assert "\n".join(lines[at : at + 3]) in GUIDE.read_text().replace("\n    ", "\n")


def test_each_python_block_of_the_guide_has_a_file() -> None:
    assert len(BLOCKS) == GUIDE.read_text().count("```python") == 5


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", [], "has no campaign: assign Campaign(operator, base) to a variable"),
        ("1 / 0", [], "ZeroDivisionError: division by zero"),
        (BLOCKS["lakes.py"], ["rivers"], "has no campaign 'rivers': it has lakes"),
    ],
    ids=["none", "broken", "unknown"],
)
def test_a_wrong_file_is_an_error_with_its_cause(tmp_path: Path, text: str, arguments: list[str], message: str) -> None:
    file = tmp_path / "campaigns.py"
    file.write_text(text)
    found = CliRunner().invoke(campaign_command, [str(file), *arguments], standalone_mode=False)
    assert message in str(found.exception)
