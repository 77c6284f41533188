"""Test files that start processes have a mark, so that `make test` stays fast."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.marks import MARKS, marks_of
from tests.style.sources import ROOT, text_of

TESTS = ROOT / "tests"
STARTS = re.compile(
    r"\b(import subprocess|create_subprocess|multiprocessing|os\.fork|sampan\.test_server|runpytest_subprocess)\b"
    r"|\bpytester\.run\("
)
IMPORT = re.compile(r"^from (tests[\w.]*) import ([^\n(]+|\([^)]*\))|^import (tests[\w.]+)", re.MULTILINE)
FILES = {path.relative_to(TESTS).as_posix(): path for path in sorted(TESTS.rglob("test_*.py"))}
QUICK = {"style/test_marks.py"}
"""Files that match the pattern, but start no process."""


def imported(path: Path) -> Iterator[Path]:
    """Yield the modules of tests that a file imports, except conftest: their tests with etcd have the mark."""
    for package, names, module in IMPORT.findall(text_of(path)):
        base = ROOT / (package or module).replace(".", "/")
        candidates = [base, *(base / name for name in re.findall(r"\w+", names))]
        files = [each.with_suffix(".py") for each in candidates if each.name != "conftest"]
        yield from (each for each in files if each.exists())


def starts_processes(path: Path) -> bool:
    """Return whether a file, or a module of tests that it uses, can start a process."""
    visited, left = {path}, [path]
    while left:
        if STARTS.search(text_of(left[-1])):
            return True
        new = set(imported(left.pop())) - visited
        visited |= new
        left += new
    return False


def test_a_file_that_starts_processes_has_a_mark() -> None:
    unmarked = [file for file in FILES if file not in QUICK and not marks_of(file)]
    assert [file for file in unmarked if starts_processes(FILES[file])] == [], "add it to tests/marks.py"


@pytest.mark.parametrize("pattern", [pattern for patterns in MARKS.values() for pattern in patterns])
def test_each_pattern_matches_a_file(pattern: str) -> None:
    assert any(fnmatch(file, pattern) for file in FILES), "remove it from tests/marks.py"


def test_an_unmarked_file_has_no_mark() -> None:
    assert marks_of("core/validation/test_names.py") == []
    assert marks_of("cli/test_up.py") == ["process"]
