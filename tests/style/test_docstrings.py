"""Docstrings state a purpose: none only refers to another one, and none only repeats the name.

Few of them have a word of the old dialect. `prose.py` refuses the worst ones; the others are plain in some sentences.
"""

import ast
import itertools
import re
from collections.abc import Iterator

import pytest

from tests.style.prose import words
from tests.style.sources import ROOT, parse, text_of
from tests.style.test_names import NOT_IN_SENTENCES, parts_of

SOURCES = sorted((ROOT / "src").rglob("*.py"))
# fmt: off
FILLERS = frozenset({
    "a", "all", "an", "and", "are", "as", "at", "be", "by", "each", "for", "from", "in", "is", "it", "its", "of", "on",
    "one", "or", "that", "the", "this", "to", "with",
})
# fmt: on
"""Words that add nothing to those of a name."""
DIALECT = re.compile(rf"\b(?:{'|'.join(sorted(NOT_IN_SENTENCES))})\b", re.IGNORECASE)
QUOTED = re.compile(r"``[^`]*``|`[^`\n]*`|\"[^\"\n]*\"")
DIALECT_SHARE_MAX = 0.005
RETURNED = frozenset({"return", "returns", "yield", "true", "if"})
"""Words about a result, which the signature has."""
REPEATED_MAX = 36
"""Docstrings of one line that only repeat the names of class, function and parameters. The number only falls."""


def refers_only(docstring: str) -> bool:
    """Return True for "See `Store.get`." and the like. A sentence about the purpose may contain a reference later."""
    return re.match(r"See (`|the )", docstring) is not None


def stem_of(word: str) -> str:
    """Return a word without the endings of plurals, verbs and doers."""
    short = re.sub(r"(?:ations?|ings?|ers?|ors?|ied|ies|ed|es|e|s|y)$", "", word)
    return short if len(short) >= 3 else word


def stems_of(text: str) -> set[str]:
    """Return the stems of the words of names or of a sentence."""
    return {stem_of(part) for part in parts_of(text)}


def repeats(name: str, docstring: str) -> bool:
    """Return True if the first line has only stems of the name (for a function, also of its parameters) and fillers."""
    first = docstring.strip().partition("\n")[0]
    spoken = " ".join(word for word in re.findall(r"\w+", first) if word.lower() not in FILLERS)
    return bool(spoken) and stems_of(spoken) <= stems_of(name)


def has_dialect(docstring: str) -> bool:
    """Return True if a docstring has a word of the old dialect outside of quotes."""
    return bool(words(docstring)) or DIALECT.search(QUOTED.sub("", docstring)) is not None


def name_of(node: ast.AST, stem: str) -> str:
    """Return the name of a module, class or function, followed by the parameters of a function."""
    names = [getattr(node, "name", stem)]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        given = node.args
        names += [each.arg for each in itertools.chain(given.posonlyargs, given.args, given.kwonlyargs)]
    return " ".join(names)


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
                yield name_of(node, stem) if is_first else "", text


def repeated_in(tree: ast.Module) -> Iterator[str]:
    """Yield the docstrings of one line with only words of class, function, parameters and result."""
    owners = {each: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            owner = owners[node].name if node in owners else ""
            spoken = " ".join(word for word in re.findall(r"\w+", text) if word.lower() not in RETURNED)
            if "\n" not in text and repeats(f"{name_of(node, '')} {owner}", spoken):
                yield text


def test_few_docstrings_of_functions_repeat_the_names_around_them() -> None:
    found = [(path.name, text) for path in SOURCES for text in repeated_in(parse(text_of(path)))]
    assert len(found) <= REPEATED_MAX, f"state the purpose: {found}"


@pytest.mark.parametrize(
    ("text", "found"),
    [("Return the name of the Pod.", True), ("Return the name under which it is known.", False)],
)
def test_a_method_that_repeats_its_class_is_found(text: str, found: bool) -> None:
    tree = ast.parse(f'class Pod:\n def name(self):\n  """{text}"""')
    assert list(repeated_in(tree)) == [text] * found


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


def test_few_docstrings_have_a_word_of_the_old_dialect(docstrings: list[tuple[str, str, str]]) -> None:
    found = [each for each in docstrings if has_dialect(each[2])]
    assert len(found) <= DIALECT_SHARE_MAX * len(docstrings), found


@pytest.mark.parametrize(("text", "found"), [("Others wait.", True), ("Return the `answer`.", False)])
def test_a_word_of_the_old_dialect_is_found_outside_of_quotes(text: str, found: bool) -> None:
    assert has_dialect(text) is found


@pytest.mark.parametrize("text", ["See `Store.get`.", "See the module."])
def test_a_reference_alone_is_found(text: str) -> None:
    assert refers_only(text)
    assert not refers_only(f"Return the row. {text}")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Node", "A Node.", True),
        ("remove_image", "Remove images.", True),
        ("PodSpec", "Spec of a Pod.\n\nSource: core/v1 (1.36).", True),
        ("add self binding", "Add a binding.", True),
        ("remove_image", "Remove its layers.", False),
    ],
)
def test_a_repeated_name_is_found(name: str, text: str, found: bool) -> None:
    assert repeats(name, text) is found
