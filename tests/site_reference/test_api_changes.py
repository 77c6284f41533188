"""Changes of the public API since the last release, as griffe finds them in stubs: each breaking one is listed."""

import re
from pathlib import Path

import griffe
import pytest
from scripts.reference.stubs import SNAPSHOT, write_stubs

LISTED = SNAPSHOT / "breaking.txt"
COLOURS = re.compile(r"\x1b\[\d+m")


def breaking_changes(old: Path, new: Path) -> list[str]:
    """Return the changes that break callers, in the order of their names."""
    before, after = (griffe.load("sampan", search_paths=[folder], allow_inspection=False) for folder in (old, new))
    return sorted(map(explained, griffe.find_breaking_changes(before, after)))


def explained(change: griffe.Breakage) -> str:
    """Return package, name and change: `sampan.client: connect: Public object was removed`."""
    line = COLOURS.sub("", change.explain(griffe.ExplanationStyle.ONE_LINE))
    return f"{change.obj.module.path}: {line.partition('.pyi:')[2].partition(': ')[2]}"


def test_each_breaking_change_since_the_last_release_is_listed(tmp_path: Path) -> None:
    write_stubs(tmp_path)
    found = breaking_changes(SNAPSHOT, tmp_path)
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
def test_a_breaking_change_is_found(tmp_path: Path, package: str, old: str, new: str, change: str) -> None:
    write_stubs(tmp_path)
    stub = tmp_path / "sampan" / package / "__init__.pyi"
    text = stub.read_text()
    assert old in text
    stub.write_text(text.replace(old, new))
    assert any(each.endswith(change) for each in breaking_changes(SNAPSHOT, tmp_path))


def test_an_addition_breaks_nothing(tmp_path: Path) -> None:
    write_stubs(tmp_path)
    stub = tmp_path / "sampan" / "client" / "__init__.pyi"
    stub.write_text(
        stub.read_text().replace("__all__ = [", '__all__ = ["added",') + "\ndef added(one: int) -> int: ...\n"
    )
    assert breaking_changes(tmp_path, tmp_path) == breaking_changes(SNAPSHOT, SNAPSHOT) == []
    assert breaking_changes(SNAPSHOT, tmp_path) == []
