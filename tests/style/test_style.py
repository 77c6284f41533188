"""The house style, as far as a program can see it. The lists of what is over a limit may only shrink."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
RATCHET = json.loads((Path(__file__).parent / "ratchet.json").read_text())
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "misc"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def over_the_limit() -> dict[str, list[str]]:
    long_files = [name_of(path) for path in SOURCES if path.read_text().count("\n") > FILE_LINES_MAX]
    long_functions = [
        f"{name_of(path)}:{node.name}"
        for path in SOURCES
        for node in functions(parse(path))
        if (node.end_lineno or 0) - node.lineno > FUNCTION_LINES_MAX
    ]
    return {"files": long_files, "functions": sorted(set(long_functions))}


@pytest.mark.parametrize("kind", ["files", "functions"])
def test_what_is_too_long_is_known_and_the_list_only_shrinks(kind: str) -> None:
    found = set(over_the_limit()[kind])
    known = set(RATCHET[kind])
    assert not found - known, f"new {kind} over the limit"
    assert not known - found, f"these {kind} are short now: take them off tests/style/ratchet.json"


def test_no_room_is_called_utils() -> None:
    assert [name_of(path) for path in SOURCES if FORBIDDEN_NAMES & set(path.with_suffix("").parts)] == []


def test_nothing_is_left_to_do_on_main() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X")
    assert [name_of(path) for path in SOURCES if any(mark in path.read_text() for mark in marks)] == []


def test_imports_stand_at_the_top() -> None:
    found = [
        f"{name_of(path)}:{node.name}"
        for path in SOURCES
        for node in functions(parse(path))
        if any(isinstance(inner, ast.Import | ast.ImportFrom) for inner in ast.walk(node))
    ]
    assert found == []


CLOCK = "src/sampan/core/clock.py"
CLOCK_READS = {
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
}


def clock_reads(path: Path) -> Iterator[str]:
    """Places that read the time of the operating system. `time.perf_counter` may measure processor work."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Attribute) and ".".join(ast.unparse(node).split(".")[-2:]) in CLOCK_READS:
            yield f"{name_of(path)}:{node.lineno}"
        if isinstance(node, ast.ImportFrom) and {f"{node.module}.{alias.name}" for alias in node.names} & CLOCK_READS:
            yield f"{name_of(path)}:{node.lineno}"


def test_only_the_clock_module_reads_the_time() -> None:
    """Else virtual time is not the only time of a test: use the functions of `core/clock.py`."""
    assert [found for path in SOURCES if name_of(path) != CLOCK for found in clock_reads(path)] == []


def test_no_detours_around_the_type_checker() -> None:
    mark = "TYPE_" + "CHECKING"
    assert [name_of(path) for path in SOURCES if mark in path.read_text()] == []


def public_without_docstring(path: Path) -> Iterator[str]:
    tree = parse(path)
    if path.stat().st_size > 1 and ast.get_docstring(tree) is None:
        yield name_of(path)
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name.startswith("_"):
            continue
        if ast.get_docstring(node) is None:
            yield f"{name_of(path)}:{node.name}"


def test_public_names_say_what_they_are_for() -> None:
    found = {name for path in SOURCES for name in public_without_docstring(path)}
    known = set(RATCHET["undocumented"])
    assert not found - known, "public names without a docstring"
    assert not known - found, "these have a docstring now: take them off tests/style/ratchet.json"
