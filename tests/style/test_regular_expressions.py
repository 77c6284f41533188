"""`$` of a regular expression also matches before a newline at the end, so `"1Gi\\n"` would be valid.

Use `fullmatch` or `\\Z`.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.style.sources import SOURCES, name_of, parse, text_of

FUNCTIONS = frozenset(("compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "subn", "split"))
MAKERS = frozenset(("_pattern",))
"""Functions of Sampan that compile their argument with `re`."""
_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]", re.DOTALL)
"""Escapes and character classes, in which a dollar is no anchor."""


def dollars(text: str) -> Iterator[str]:
    """Yield the regular expressions in a source in which a dollar is the end of the text."""
    tree = parse(text)
    texts = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not _is_regex(node.func):
            continue
        if any(
            "MULTILINE" in ast.unparse(argument) for argument in [*node.args, *(each.value for each in node.keywords)]
        ):
            continue
        named = [texts[each.id] for each in ast.walk(node.args[0]) if isinstance(each, ast.Name) and each.id in texts]
        for part in (part for value in (node.args[0], *named) for part in ast.walk(value)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str | bytes):
                pattern = part.value.decode("latin-1") if isinstance(part.value, bytes) else part.value
                if "$" in _CLASS.sub("", pattern):
                    yield pattern


def _is_regex(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "re" and function.attr in FUNCTIONS
    return isinstance(function, ast.Name) and function.id in MAKERS


def test_no_regular_expression_ends_with_a_dollar() -> None:
    assert [f"{name_of(path)}: {found}" for path in SOURCES for found in dollars(text_of(path))] == []


@pytest.mark.parametrize(
    "source",
    [
        're.compile(r"^a+$")',
        're.match(rb"(a$|b)", x)',
        're.compile(rf"{part}$").search',
        '_pattern("^a$")',
        'A = "^a$"\nre.compile(A)',
    ],
)
def test_a_dollar_at_the_end_is_found(source: str) -> None:
    assert list(dollars(source))


@pytest.mark.parametrize(
    "source", ['re.compile(r"[$]a")', r're.compile(r"\$a\Z")', 're.compile("^a$", re.MULTILINE)', '"a$".split()']
)
def test_other_dollars_are_not_found(source: str) -> None:
    assert not list(dollars(source))
