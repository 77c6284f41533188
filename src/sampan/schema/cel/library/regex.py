"""Regular expressions, matched by RE2 in linear time. Source: apiserver pkg/cel/library/regex.go (1.36)."""

import functools
from typing import Any

import re2

from sampan.schema.cel.declarations import Library, member, regex_traversal, with_cost
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import INT, STRING, list_of
from sampan.schema.cel.values import TextList

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


@functools.lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Any:
    """Compile a pattern. **Raises** CelRuntimeError."""
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise CelRuntimeError(f"error parsing regexp: {_go_error(text)}") from None


_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "unexpected )": "unexpected )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid escape sequence": "invalid escape sequence",
    "invalid character class range": "invalid character class range",
    "invalid named capture group": "invalid named capture",
}


def _go_error(text: str) -> str:
    """Translate an error of RE2 to the wording of Go's regexp package."""
    for known, word in _WORDS.items():
        if text.startswith(f"{known}: "):
            return f"{word}: `{text[len(known) + 2 :]}`"
    return text


def matches(text: str, pattern: str) -> bool:
    """Report whether the pattern matches anywhere in the text."""
    return compile_pattern(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    found = compile_pattern(pattern).search(text)
    return found[0] if found is not None else ""


def _find_all(text: str, pattern: str, count: int = -1) -> TextList:
    found = TextList()
    if count == 0:
        return found
    for match in compile_pattern(pattern).finditer(text):
        found.append(match[0])
        if len(found) == count:
            break
    return found


REGEX = Library(
    with_cost(
        regex_traversal,
        (
            member("find", "string_find_string", (STRING, STRING), STRING, _find),
            member("findAll", "string_find_all_string", (STRING, STRING), list_of(STRING), _find_all),
            member("findAll", "string_find_all_string_int", (STRING, STRING, INT), list_of(STRING), _find_all),
        ),
    )
)
