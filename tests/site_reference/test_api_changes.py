"""Changes of the public API since the last release, as griffe finds them in stubs: each breaking one is listed."""

import re
import shutil
from functools import cache
from pathlib import Path

import griffe
import pytest
from scripts.reference.stubs import SNAPSHOT, write_stubs

LISTED = SNAPSHOT / "breaking.txt"
COLOURS = re.compile(r"\x1b\[\d+m")


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with today's stubs."""
    folder = tmp_path_factory.mktemp("stubs")
    write_stubs(folder)
    return folder


@pytest.fixture
def changed(stubs: Path, tmp_path: Path) -> Path:
    """Return a copy of today's stubs, which the test may change."""
    return shutil.copytree(stubs, tmp_path / "changed")


@cache
def api(folder: Path) -> griffe.Object | griffe.Alias:
    """Return the public API that a folder of stubs has."""
    return griffe.load("sampan", search_paths=[folder], allow_inspection=False)


def breaking_changes(old: Path, new: Path) -> list[str]:
    """Return the changes that break callers, in the order of their names."""
    return sorted(map(explained, griffe.find_breaking_changes(api(old), api(new))))


def explained(change: griffe.Breakage) -> str:
    """Return package, name and change: `sampan.client: connect: Public object was removed`."""
    line = COLOURS.sub("", change.explain(griffe.ExplanationStyle.ONE_LINE))
    return f"{change.obj.module.path}: {line.partition('.pyi:')[2].partition(': ')[2]}"


def test_each_breaking_change_since_the_last_release_is_listed(stubs: Path) -> None:
    found = breaking_changes(SNAPSHOT, stubs)
    listed = [line for line in LISTED.read_text().splitlines() if not line.startswith("#")]
    assert found == sorted(listed), f"keep the old API, or list the change in {LISTED.name} and CHANGELOG.md"


@pytest.mark.parametrize(
    ("package", "old", "new", "change"),
    [
        ("client", "def connect(", "def connect_to(", "sampan.client: connect: Public object was removed"),
        ("operator", "def add_finalizer(obj", "def add_finalizer(to", "add_finalizer(obj): Parameter was removed"),
        ("operator", "def run(self", "def run_all(self", "Manager.run: Public object was removed"),
    ],
    ids=["a function that is gone", "a parameter that is renamed", "a method that is renamed"],
)
def test_a_breaking_change_is_found(changed: Path, package: str, old: str, new: str, change: str) -> None:
    stub = changed / "sampan" / package / "__init__.pyi"
    text = stub.read_text()
    assert old in text
    stub.write_text(text.replace(old, new))
    assert any(each.endswith(change) for each in breaking_changes(SNAPSHOT, changed))


def test_an_addition_breaks_nothing(changed: Path) -> None:
    stub = changed / "sampan" / "client" / "__init__.pyi"
    stub.write_text(
        stub.read_text().replace("__all__ = [", '__all__ = ["added",') + "\ndef added(one: int) -> int: ...\n"
    )
    assert breaking_changes(changed, changed) == breaking_changes(SNAPSHOT, SNAPSHOT) == []
    assert breaking_changes(SNAPSHOT, changed) == []
