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

from tests.style.prose import words
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
NOT_IN_SENTENCES = (DIALECT - {"kept", "outside", "pace", "past", "rounds", "turns"}) | {"beside", "spoken", "wants"}
"""Words that names of tests do not have. The others of `DIALECT` are plain in a sentence: "a given name is kept"."""
NOT_IN_TEST_NAMES = re.compile(r"\b(something that|ones own|in vain)\b")
RATCHET = json.loads((Path(__file__).parent / "ratchet.json").read_text())["dialect"]


def parts_of(name: str) -> list[str]:
    """Return the words of an identifier: `_lastSeen_at` has last, seen and at."""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def names_of(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a module defines, without those of tests: they are sentences (`faults_of_test`)."""
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
        counter: Counter[str] = Counter()
        for path in (ROOT / folder).rglob("*.py"):
            for name in (path.stem, *names_of(parse(text_of(path)))):
                counter.update(DIALECT.intersection(parts_of(name)))
        found[folder] = dict(sorted(counter.items()))
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


def faults_of_test(name: str) -> list[str]:
    """Return the words of a test's name that break the rules of prose."""
    sentence = name.removeprefix("test_").replace("_", " ")
    found = [word for word in parts_of(name) if word in NOT_IN_SENTENCES]
    return sorted({*found, *words(sentence), *NOT_IN_TEST_NAMES.findall(sentence)})


def test_names_of_tests_are_plain_sentences() -> None:
    found = {
        node.name: faults
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("test_*.py")
        for node in ast.walk(parse(text_of(path)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if (faults := faults_of_test(node.name))
    }
    assert found == {}, "read the test, and state the behaviour in plain words"


@pytest.mark.parametrize(
    ("name", "faults"),
    [
        ("test_something_that_is_gone_is_found", ["something that"]),
        ("test_it_has_a_name_of_its_own", ["of its own"]),
        ("test_others_are_answered_in_vain", ["answered", "in vain", "others"]),
        ("test_a_given_name_is_kept", []),
    ],
)
def test_words_of_a_tests_name_are_checked(name: str, faults: list[str]) -> None:
    assert faults_of_test(name) == faults


def test_an_identifier_is_split_into_words() -> None:
    assert parts_of("_lastSeen_at") == ["last", "seen", "at"]
    assert parts_of("HTTPServer") == ["http", "server"]
