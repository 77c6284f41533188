"""Parts of an operator are found by import."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sampan.operator import add_parts, modules_below


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a package with two parts, one of which imports the function of the other."""
    files = {
        "fleet/__init__.py": "",
        "fleet/operator.py": "def set_up(target): raise AssertionError('not a part')",
        "fleet/boat/__init__.py": "from fleet.boat.reconcile import set_up",
        "fleet/boat/reconcile.py": "def set_up(target): target.append('boat')",
        "fleet/boat/deep/__init__.py": "",
        "fleet/boat/deep/inner.py": "def set_up(target): target.append('inner')",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [each for each in sys.modules if each.split(".")[0] == "fleet"]:
        monkeypatch.delitem(sys.modules, name)
    return importlib.import_module("fleet")


def test_each_part_is_added_once_in_the_order_of_names(package: ModuleType) -> None:
    added: list[str] = []
    assert add_parts(added, package) == ["fleet.boat.deep.inner", "fleet.boat.reconcile"]
    assert added == ["inner", "boat"]


def test_another_function_can_be_the_one(package: ModuleType) -> None:
    assert add_parts([], package, "set_up_webhooks") == []


@pytest.mark.parametrize("text", ["import absent_module", "1 / 0", "def x(:"])
def test_an_error_of_an_import_is_raised(package: ModuleType, tmp_path: Path, text: str) -> None:
    (tmp_path / "fleet/boat/deep/__init__.py").write_text(text)
    with pytest.raises((ImportError, ZeroDivisionError, SyntaxError)):
        list(modules_below(package))
