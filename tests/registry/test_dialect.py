"""Tests for the differences between built-in types and custom resources."""

import ast
import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest

from sampan.registry import dialect
from sampan.registry.dialect import BUILTIN, CUSTOM, Dialect

SRC = Path(dialect.__file__).parents[1]
FIELDS = [field.name for field in dataclasses.fields(Dialect)]


def _docstrings() -> dict[str, str]:
    """Return the docstring below each field of `Dialect`."""
    tree = ast.parse(Path(dialect.__file__).read_text())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef)).body
    found = {}
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            found[field.target.id] = str(text.value.value)
    return found


@pytest.mark.parametrize("name", FIELDS)
def test_the_dialects_differ_in_every_field(name: str) -> None:
    assert getattr(BUILTIN, name) != getattr(CUSTOM, name)


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_names_its_source(name: str) -> None:
    assert "Source:" in _docstrings()[name]


def test_no_verb_depends_on_builtin_types() -> None:
    files = [SRC / "server" / "resources.py", *(SRC / "server" / "verbs").rglob("*.py")]
    requesting = [
        f"{file.relative_to(SRC)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "builtin"
    ]
    assert requesting == []
