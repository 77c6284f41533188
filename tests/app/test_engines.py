"""Engines describe themselves: other modules use their properties, not their names."""

import ast

import pytest

from sampan.app.engines import ENGINES, URL_FORMS
from tests.style.test_style import SOURCES, name_of

NAMES = set(ENGINES) - {"memory"}
"""Names that mean an engine wherever they are; `memory` is also a resource of Pods."""


def compared_names(text: str) -> list[int]:
    """Return the lines that compare a value with the name of an engine."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare | ast.MatchValue)
        and any(isinstance(part, ast.Constant) and part.value in NAMES for part in ast.walk(node))
    ]


def test_no_module_compares_the_name_of_an_engine() -> None:
    assert [f"{name_of(path)}:{line}" for path in SOURCES for line in compared_names(path.read_text())] == []


@pytest.mark.parametrize("text", ['a.storage == "etcd"', 'a in ("etcd", "sqlite")', 'match a:\n    case "etcd": pass'])
def test_a_comparison_is_found(text: str) -> None:
    assert compared_names(text) != []


def test_the_forms_of_store_urls_are_those_of_the_engines() -> None:
    assert URL_FORMS == "sqlite:DIRECTORY or etcd:URL,URL"
