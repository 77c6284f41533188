"""The house style, as far as a program can see it. The lists of what is over a limit may only shrink."""

import ast
import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.style.sources import GENERATED, ROOT, SOURCES, name_of, parse, text_of

RATCHET = json.loads((Path(__file__).parent / "ratchet.json").read_text())
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "misc"}
COMPOSITION = (
    "app/storage/at_rest.py",
    "app/observability/audit.py",
    "app/access/authentication.py",
    "app/access/authorization.py",
    "app/cluster.py",
    "app/components.py",
    "app/storage/encryption.py",
    "app/extension.py",
    "app/observability/observability.py",
    "app/presence.py",
    "app/up.py",
    "server/apiserver.py",
    "testing/servers/logical_server.py",
)
"""Modules that make the parts of a server: a part gets what it needs when it is made."""


@dataclass(slots=True)
class Faults:
    """Files and functions of all sources that are too long."""

    files: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    def look_at(self, path: Path) -> None:
        name = name_of(path)
        # Comments do not count: a limit must not be a reason to leave one out.
        if sum(not line.lstrip().startswith("#") for line in text_of(path).splitlines()) > FILE_LINES_MAX:
            self.files.add(name)
        for node in ast.walk(parse(text_of(path))):
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and (node.end_lineno or 0) - node.lineno > FUNCTION_LINES_MAX
            ):
                self.functions.add(f"{name}:{node.name}")


@pytest.fixture(scope="module")
def faults() -> Faults:
    found = Faults()
    for path in SOURCES:
        if not name_of(path).startswith(GENERATED):
            found.look_at(path)
    return found


@pytest.mark.parametrize("kind", ["files", "functions"])
def test_new_files_and_functions_are_short_and_the_list_of_long_ones_only_shrinks(faults: Faults, kind: str) -> None:
    found, known = getattr(faults, kind), set(RATCHET[kind])
    assert not found - known, f"new {kind} over the limit"
    assert not known - found, f"these {kind} are short now: take them off tests/style/ratchet.json"


def test_no_room_is_called_utils() -> None:
    assert [name_of(path) for path in SOURCES if FORBIDDEN_NAMES & set(path.with_suffix("").parts)] == []


def test_no_detours_around_the_type_checker() -> None:
    mark = "TYPE_" + "CHECKING"
    assert [name_of(path) for path in SOURCES if mark in text_of(path)] == []


def foreign_assignments(text: str) -> list[int]:
    """Lines that set an attribute of an object other than `self`."""
    return [
        node.lineno
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) != "self"
    ]


@pytest.mark.parametrize("module", COMPOSITION)
def test_composition_hands_dependencies_to_constructors(module: str) -> None:
    assert foreign_assignments(text_of(ROOT / "src/sampan" / module)) == []


def late_fields(text: str) -> list[str]:
    """Attributes that the constructor sets to None, and a plain public method to something else."""
    late = []
    for made in (node for node in ast.walk(parse(text)) if isinstance(node, ast.ClassDef)):
        methods = {each.name: each for each in made.body if isinstance(each, ast.FunctionDef)}
        empty = {
            ast.unparse(each.target)
            for each in (ast.walk(methods["__init__"]) if "__init__" in methods else ())
            if isinstance(each, ast.AnnAssign) and each.value is not None and ast.unparse(each.value) == "None"
        }
        for name, method in methods.items():
            assigned = [each for each in ast.walk(method) if isinstance(each, ast.Assign) and not name.startswith("_")]
            late += [
                ast.unparse(target) for each in assigned for target in each.targets if ast.unparse(target) in empty
            ]
    return late


def injections(text: str) -> list[int]:
    """Lines that put a part of this object, or one of its functions, into another object."""
    return [
        node.lineno
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Assign)
        and ast.unparse(node.value).startswith("self.")
        and any(isinstance(each, ast.Attribute) and ast.unparse(each.value) != "self" for each in node.targets)
    ]


def test_no_object_of_the_registry_injects_a_dependency_later() -> None:
    sources = [path for path in SOURCES if name_of(path).startswith("src/sampan/registry/")]
    assert [f"{name_of(path)}:{line}" for path in sources for line in injections(text_of(path))] == []


@pytest.mark.parametrize("text", ["a.b = self.c", "self.a.b = self.c = self.d()"])
def test_a_dependency_that_is_injected_later_is_found(text: str) -> None:
    assert injections(text) == [1]


def listeners_added(text: str) -> list[int]:
    """Lines that add a listener to another object."""
    return [
        node.lineno
        for node in ast.walk(parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".listeners.append")
    ]


@pytest.mark.parametrize("module", COMPOSITION)
def test_composition_adds_no_listeners(module: str) -> None:
    assert listeners_added(text_of(ROOT / "src/sampan" / module)) == []


def test_a_listener_that_is_added_later_is_found() -> None:
    assert listeners_added("self.a.listeners.append(self.b.c)") == [1]


@pytest.mark.parametrize("module", COMPOSITION)
def test_composition_completes_no_object_later(module: str) -> None:
    assert late_fields(text_of(ROOT / "src/sampan" / module)) == []


def test_a_field_that_a_setter_fills_is_found() -> None:
    text = "class A:\n def __init__(self): self.b: B | None = None\n def attach(self, b): self.b = b"
    assert late_fields(text) == ["self.b"]


@pytest.mark.parametrize("text", ["a.b = c", "self.a.b = c", "a.b, d = c", "a.b: int = c", "a.b += c"])
def test_an_attribute_that_is_set_from_outside_is_found(text: str) -> None:
    assert foreign_assignments(text) == [1]


def test_an_object_sets_its_own_attributes() -> None:
    assert foreign_assignments("self.a = b.c") == []
