"""Code and names of docs/operators.md work."""

import importlib
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import sampan.client
import sampan.operator
from sampan.operator import Builder, Manager, webhook
from sampan.resource.validation import KindValidator

GUIDE = (Path(__file__).parents[2] / "docs" / "operators.md").read_text()
FILES = dict(re.findall(r"```(?:python|yaml)\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL))
NAMES = re.findall(r"^\| .*? \| (?:`([\w.]+)[`(]|`(\w+)` in)", GUIDE, re.MULTILINE)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory with the guide's files, on `sys.path`."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "boats", raising=False)
    monkeypatch.delitem(sys.modules, "boats.types", raising=False)
    return tmp_path


def _module(typed: Path, name: str) -> dict[str, Any]:
    return runpy.run_path(str(typed / name), run_name="boats.types" if name.endswith("types.py") else "guide")


def test_guide_has_the_expected_files() -> None:
    assert set(FILES) == {"boats/types.py", "boats/operator.py", "boat.yaml", "test_boats.py"}


def test_kind_is_declared_and_validated(typed: Path) -> None:
    types = importlib.import_module("boats.types")
    [fault] = KindValidator(types.Boat).faults(types.Boat(spec=types.BoatSpec(length=0)))
    assert fault.detail == "a boat has a length"


def test_operator_has_a_main_function(typed: Path) -> None:
    assert callable(_module(typed, "boats/operator.py")["main"])


def test_example_test_passes(typed: Path) -> None:
    _module(typed, "test_boats.py")["test_an_hour_passes_at_once"]()


def test_names_of_the_table_exist() -> None:
    known = {"Builder": Builder, "manager": Manager}
    for name in filter(None, (first or second for first, second in NAMES)):
        owner, _, member = name.rpartition(".")
        holders = [known[owner]] if owner in known else [sampan.operator, webhook, sampan.client]
        assert any(hasattr(holder, member) for holder in holders), name
