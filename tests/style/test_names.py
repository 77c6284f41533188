"""Identifiers in plain English: words that are out of use, or that make a person of software, are counted.

A count may only fall. To use another name, lower the count in `ratchet.json`.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.style.sources import ROOT, parse, text_of

FOLDERS = ("src", "tests", "benchmarks", "examples", "scripts")
# fmt: off
DIALECT = frozenset({
    "anew", "answer", "answered", "answers", "ask", "asked", "asks", "departed", "door", "farewell", "fellow",
    "fellows", "hear", "heard", "kept", "knows", "lookout", "nobody", "others", "outside", "pace", "past",
    "patience", "rounds", "said", "says", "seen", "somebody", "speak", "speaks", "stranger", "strangers", "tell",
    "tells", "told", "turns", "wanted", "who", "whom", "witness",
})
# fmt: on
RATCHET = json.loads((Path(__file__).parent / "ratchet.json").read_text())["dialect"]


def parts_of(name: str) -> list[str]:
    """Return the words of an identifier: `_lastSeen_at` has last, seen and at."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def names_of(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines. Names of tests are sentences, so they are no identifiers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.name.startswith("test_"):
                yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


@pytest.fixture(scope="module")
def counts() -> dict[str, dict[str, int]]:
    """Return the number of definitions by folder and word."""
    found: dict[str, dict[str, int]] = {}
    for folder in FOLDERS:
        words: Counter[str] = Counter()
        for path in (ROOT / folder).rglob("*.py"):
            for name in (path.stem, *names_of(parse(text_of(path)))):
                words.update(DIALECT.intersection(parts_of(name)))
        found[folder] = dict(sorted(words.items()))
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_identifier_has_a_new_dialect_word(counts: dict[str, dict[str, int]], folder: str) -> None:
    known = RATCHET[folder]
    risen = {word: count for word, count in counts[folder].items() if count > known.get(word, 0)}
    assert risen == {}, "rename these identifiers (house style: Writing)"


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_counts_of_dialect_words_only_fall(counts: dict[str, dict[str, int]], folder: str) -> None:
    fallen = {word: counts[folder].get(word, 0) for word in RATCHET[folder]}
    assert fallen == RATCHET[folder], "lower these counts in tests/style/ratchet.json"


def test_an_identifier_is_split_into_words() -> None:
    assert parts_of("_lastSeen_at") == ["last", "seen", "at"]
    assert parts_of("HTTPServer") == ["http", "server"]
