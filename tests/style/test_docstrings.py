"""Docstrings state a purpose: none only refers to another one, and none only repeats the name."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.style.sources import ROOT, parse, text_of
from tests.style.test_names import parts_of

SOURCES = sorted((ROOT / "src").rglob("*.py"))
ARTICLES = {"a", "an", "the"}


def refers_only(docstring: str) -> bool:
    """Return True for "See `Store.get`." and the like. A sentence about the purpose may contain a reference later."""
    return re.match(r"See (`|the )", docstring) is not None


def repeats(name: str, docstring: str) -> bool:
    """Return True if all words of the docstring are in the name, apart from articles and the plural."""
    words = set(re.findall(r"[a-z0-9]+", docstring.lower())) - ARTICLES
    parts = set(parts_of(name))
    return bool(words) and words <= parts | {f"{part}s" for part in parts}


def docstrings_of(tree: ast.Module, stem: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a module, with the names of what they describe; attributes have the name ''."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for index, statement in enumerate(body if isinstance(body, list) else []):
            if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
                continue
            if isinstance(text := statement.value.value, str):
                is_first = index == 0 and isinstance(
                    node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
                )
                yield getattr(node, "name", stem) if is_first else "", text


@pytest.fixture(scope="module")
def docstrings() -> list[tuple[str, str, str]]:
    """Return the path, name and text of each docstring in src."""
    return [
        (path.relative_to(ROOT).as_posix(), name, text)
        for path in SOURCES
        for name, text in docstrings_of(parse(text_of(path)), path.stem)
    ]


def test_no_docstring_only_refers_to_another_one(docstrings: list[tuple[str, str, str]]) -> None:
    assert [each for each in docstrings if refers_only(each[2])] == [], "state the purpose"


def test_no_docstring_only_repeats_the_name(docstrings: list[tuple[str, str, str]]) -> None:
    assert [each for each in docstrings if each[1] and repeats(*each[1:])] == [], "state the purpose"


@pytest.mark.parametrize("text", ["See `Store.get`.", "See the module."])
def test_a_reference_alone_is_found(text: str) -> None:
    assert refers_only(text)
    assert not refers_only(f"Return the row. {text}")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Node", "A Node.", True),
        ("remove_image", "Remove images.", True),
        ("remove_image", "Remove its layers.", False),
    ],
)
def test_a_repeated_name_is_found(name: str, text: str, found: bool) -> None:
    assert repeats(name, text) is found
