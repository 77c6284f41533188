"""Engines describe themselves: other modules use their properties, not their names."""

import ast
from pathlib import Path

import pytest

from sampan.app.engines import ENGINES, URL_FORMS
from sampan.app.errors import StartError
from sampan.app.storage.data_directory import check_whole
from sampan.storage.sqlite.restore import COPYING
from tests.style.sources import SOURCES, name_of

NAMES = set(ENGINES) - {"memory"}
"""Names that mean an engine wherever they are; `memory` is also a resource of Pods."""


def compared_names(text: str) -> list[int]:
    """Return the lines that compare a value with the name of an engine."""
    if not any(name in text for name in NAMES):
        return []  # to parse all sources takes seconds
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


def imported_engines(text: str) -> list[int]:
    """Return the lines that import from the module of an engine."""
    modules = {each.__module__ for each in ENGINES.values()}
    if not any(module in text for module in modules):
        return []
    return [
        node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.module in modules
    ]


def test_no_module_outside_the_engines_imports_from_the_module_of_an_engine() -> None:
    sources = [path for path in SOURCES if path.parent.name != "engines"]
    assert [f"{name_of(path)}:{line}" for path in sources for line in imported_engines(path.read_text())] == []


def test_an_import_from_the_module_of_an_engine_is_found() -> None:
    assert imported_engines("from sampan.app.engines.sqlite import anything") == [1]


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_an_empty_directory_has_no_unfinished_store(name: str, tmp_path: Path) -> None:
    ENGINES[name].check_whole(tmp_path)


def test_an_unfinished_store_of_any_engine_is_found(tmp_path: Path) -> None:
    (tmp_path / COPYING).mkdir()
    with pytest.raises(StartError, match="was interrupted"):
        check_whole(tmp_path)


def test_the_forms_of_store_urls_are_those_of_the_engines() -> None:
    assert URL_FORMS == "sqlite:DIRECTORY or etcd:URL,URL"
