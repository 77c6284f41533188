"""Texts of Go in errors: clients match some, and one module makes these. All other errors are sentences."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.style.sources import SOURCES, name_of, parse, text_of

PLACES = {
    "src/sampan/core/go_text.py",
    # The path of a whole object, `<nil>`: go_text imports this module.
    "src/sampan/core/field.py",
    # The output of kubectl, not an error: templates and custom columns.
    "src/sampan/cli/objects/go_text.py",
}
"""Modules that may write the texts."""
VALUE = "\0"
"""Stands for a value in an f-string."""
GO_TEXT = re.compile(
    r"""
    cannot\ unmarshal | Go\ (struct|value)\b | valueUnstructured     # decoders
    | \bcannot\ restore\ (struct|map|slice)\b | \bunrecognized\ type\b
    | \bunexpected\ end\ of\ JSON\ input\b
    | \binvalid\ character\ ('|\0\ (\0|looking|after)) | \bjson:\ unsupported\b | \baccessor\ error\b
    | \bstrconv\. | \bparsing\ ("|time\ ["\0])
    | \btime:\ (invalid|missing|unknown)\b | \bcannot\ parse\ ["\0]
    | 0001-01-01\ 0 | \+0000\ UTC | \ m=[+]                           # timestamps
    | <nil> | \(nil\) | %![a-z]\( | \(MISSING                                # values
    | &[\w.]*\{ | \[\][\w.]*\{ | \bmap\[[\w.]*\][\w.\ ]*\{ | \binterface\ ?\{ | \bmap\[\0
    | \bruntime\ error\b | \breflect\. | \.go:\d | \bgoroutine\ \d | \bnil\ pointer\b   # failures
    """,
    re.VERBOSE,
)


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string, except docstrings. Values in f-strings are `VALUE`."""
    tree = parse(source)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else VALUE for part in node.values]
            yield node.lineno, "".join(map(str, parts))
            skipped.update(id(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def go_texts(source: str) -> list[int]:
    """Lines of strings that have a text of Go."""
    return [line for line, text in texts(source) if GO_TEXT.search(text)]


@pytest.mark.parametrize(
    "expression",
    [
        'f"json: cannot unmarshal {kind} into Go value of type string"',
        'f"requested &user.DefaultInfo{{{shown}}}"',
        'f"found []string{{{names}}}"',
        '"map[string]interface {}"',
        'f"got map[{items}]"',
        'f"strconv.Atoi: parsing {text}: invalid syntax"',
        """f"invalid character '{char}' after top-level value\"""",
        '"slice bounds out of range: runtime error"',
        '"value: %!s(<nil>)"',
        '"panic at handler.go:12"',
        '"2026-01-02 00:00:00 +0000 UTC"',
        'f"time: invalid duration {text}"',
    ],
)
def test_a_text_of_go_is_found(expression: str) -> None:
    assert go_texts(f"raise ValueError({expression})") == [1]


@pytest.mark.parametrize(
    "source",
    [
        '"""Errors like `map[string]interface {}`."""',
        'name = "map[string]string"',
        'pattern = r"[%!$&]"',
        'text = f"invalid characters in {name}"',
    ],
    ids=["docstring", "type name", "pattern", "sentence"],
)
def test_other_texts_are_not_found(source: str) -> None:
    assert go_texts(source) == []


def test_texts_of_go_are_made_in_one_module() -> None:
    found = {name_of(path): go_texts(text_of(path)) for path in SOURCES if name_of(path) not in PLACES}
    assert {name: lines for name, lines in found.items() if lines} == {}, "use core/go_text.py, or write a sentence"
