"""Tables do not repeat each other's keys: one row has all facts of a key."""

import ast
from collections.abc import Iterator
from itertools import combinations

from tests.style.sources import SOURCES, name_of, parse, text_of

KEYS_MIN = 5
SHARE_MAX = 0.8
"""Share of the larger table's keys that another table may have too."""
FOLDERS = ("src/sampan/server/admission/", "src/sampan/server/openapi/", "src/sampan/server/verbs/")
"""Folders with tables by resource, or by resource and subresource."""


def key_of(node: ast.expr | None) -> tuple[str, ...] | None:
    """Return a literal key without the group in front of a resource; None for another expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (node.value,)
    if isinstance(node, ast.Tuple) and all(isinstance(each, ast.Constant) for each in node.elts):
        key = tuple(str(each.value) for each in node.elts if isinstance(each, ast.Constant))
        return key[1:] if len(key) > 1 and ("." in key[0] or not key[0]) else key
    return None


def tables(text: str) -> Iterator[tuple[int, frozenset[tuple[str, ...]]]]:
    """Yield the line and the keys of each literal table, which is no object with a kind."""
    for node in ast.walk(parse(text)):
        if not isinstance(node, ast.Dict | ast.Set):
            continue
        nodes: list[ast.expr | None] = [*(node.keys if isinstance(node, ast.Dict) else node.elts)]
        keys = frozenset(key for key in map(key_of, nodes) if key is not None)
        if len(keys) >= KEYS_MIN and ("kind",) not in keys:
            yield node.lineno, keys


def repeated(files: dict[str, str]) -> list[str]:
    """Return the pairs of tables that have nearly the same keys."""
    found = [(f"{name}:{line}", keys) for name, text in files.items() for line, keys in tables(text)]
    return [
        f"{first} and {second}"
        for (first, keys), (second, second_keys) in combinations(found, 2)
        if len(keys & second_keys) > SHARE_MAX * max(len(keys), len(second_keys))
    ]


def test_no_two_tables_by_resource_have_the_same_keys() -> None:
    files = {name_of(path): text_of(path) for path in SOURCES if name_of(path).startswith(FOLDERS)}
    assert repeated(files) == []


def test_a_set_that_repeats_the_keys_of_a_table_is_found() -> None:
    text = '{("", "a"), ("x.io", "b"), ("", "c"), ("", "d"), ("", "e")}\n{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}'
    assert repeated({"f": text}) == ["f:1 and f:2"]
