"""Code and names of docs/operators.md work, and the code is what `sampan create` writes."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sampan.client
import sampan.operator
from sampan.cli.main import cli
from sampan.operator import Builder, Manager, webhook
from sampan.resource.validation import KindValidator
from sampan.testing import Cluster, has_condition

GUIDE = (Path(__file__).parents[2] / "docs" / "operators.md").read_text()
FILES = dict(re.findall(r"```(?:python|yaml)\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL))
COMMANDS = re.findall(r"^    sampan ((?:init|create) .*?)(?: &&.*)?$", GUIDE, re.MULTILINE)
NAMES = re.findall(r"^\| .*? \| (?:`([\w.]+)[`(]|`(\w+)` in)", GUIDE, re.MULTILINE)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the project that the commands of the guide make, with its package on `sys.path`."""
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        arguments = [each.strip("'") for each in command.split()]
        assert not CliRunner().invoke(cli, arguments, standalone_mode=False).return_value
        monkeypatch.chdir(tmp_path / "boats")
    monkeypatch.syspath_prepend(tmp_path / "boats/src")
    for name in [each for each in sys.modules if each.split(".")[0] == "boats"]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path / "boats"


def test_the_guide_shows_what_the_commands_write(project: Path) -> None:
    assert [name for name in FILES if name.startswith("src/boats/boat/")]
    assert {name: (project / name).read_text() for name in FILES} == FILES


@pytest.mark.parametrize(
    "taught", ["set_condition", "observed_generation", "event_recorder", "assert_idempotent", "explore("]
)
def test_the_guide_teaches(taught: str) -> None:
    assert any(taught in text for text in FILES.values())


@pytest.mark.usefixtures("project")
def test_kind_is_declared_and_validated() -> None:
    types = importlib.import_module("boats.boat.v1")
    [fault] = KindValidator(types.Boat).faults(types.Boat(spec=types.BoatSpec(length=0)))
    assert "greater than or equal to 1" in fault.detail


@pytest.mark.usefixtures("project")
def test_operator_has_a_main_function() -> None:
    assert importlib.import_module("boats.__main__").main is sampan.operator.main


@pytest.mark.usefixtures("project")
async def test_the_operator_finds_its_controllers(cluster: Cluster, project: Path) -> None:
    types: Any = importlib.import_module("boats.boat.v1")
    await cluster.crds(types.Boat)
    cluster.run(importlib.import_module("boats.app").set_up)
    await cluster.apply(project / "samples/boat.yaml")
    await cluster.eventually("boats/example", has_condition("Ready"))


def test_names_of_the_table_exist() -> None:
    known = {"Builder": Builder, "ResourceClient": sampan.client.ResourceClient, "manager": Manager}
    for name in filter(None, (first or second for first, second in NAMES)):
        owner, _, member = name.rpartition(".")
        holders = [known[owner]] if owner in known else [sampan.operator, webhook, sampan.client]
        assert any(hasattr(holder, member) for holder in holders), name
