"""The tests of docs/faults.md pass, its plan files are valid, and exploration has the finding that it shows."""

import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import sampan.scheduler.set_up
import sampan.testing.pytest_session  # noqa: F401  # loaded before pytester's plug-ins count the modules
from sampan.cli.test_server.explore import explore_command
from sampan.testing.explore.plan import FAULTS
from sampan.testing.faults import What, read_plan

pytest_plugins = ["pytester"]

TEXT = (Path(__file__).parents[3] / "docs" / "faults.md").read_text()
BLOCKS = dict(re.findall(r"^```python\n# (\w+\.py).*?\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
PLANS = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
MORE_TESTS = 6
"""Five faults at a call of an external system, and a second object that is absent."""
SECOND_READ = "            if name not in await keys_of_box(client.direct):\n"


@pytest.fixture
def folder(pytester: pytest.Pytester) -> Iterator[Path]:
    for name, text in BLOCKS.items():
        (pytester.path / name).write_text(text)
    yield pytester.path
    logging.disable(logging.NOTSET)
    sys.modules.pop("scenarios", None)


@pytest.mark.usefixtures("folder")
def test_the_operator_survives_each_kind_of_fault(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-p", "no:asyncio")
    result.assert_outcomes(passed=len(FAULTS) + MORE_TESTS)


def test_without_the_second_read_exploration_has_the_finding_of_the_page(folder: Path) -> None:
    assert SECOND_READ in BLOCKS["scenarios.py"]
    file = folder / "scenarios.py"
    file.write_text(BLOCKS["scenarios.py"].replace(SECOND_READ, "            if True:\n"))
    found = CliRunner().invoke(explore_command, [str(file)], standalone_mode=False)
    at = found.output.index("\ntwo_one_two: the operator restarts")
    shown = "\n".join(found.output[at + 1 :].splitlines()[:2])
    assert shown in TEXT.replace("\n    ", "\n")


def test_the_page_has_a_test_of_each_fault_of_exploration() -> None:
    assert set(re.findall(r'PlannedFault\("([\w-]+)"', TEXT)) == set(FAULTS)
    assert len(BLOCKS) == TEXT.count("```python") == len(FAULTS) + 1


def test_the_page_has_a_valid_plan_for_each_effect_of_a_plan_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.yaml"
    effects = set()
    for text in PLANS:
        file.write_text(text)
        effects |= {type(fault.what.action).__name__ for fault in read_plan(file).faults}
    assert len(effects) == len(What.__struct_fields__)
