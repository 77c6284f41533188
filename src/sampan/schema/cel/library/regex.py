"""Regular expressions, matched in linear time. Source: apiserver pkg/cel/library/regex.go (1.36)."""

import functools
from itertools import islice

from sampan.core.event_loop.offload import charge
from sampan.schema.cel.declarations import Library, member, regex_traversal, with_cost
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import INT, STRING, list_of
from sampan.schema.cel.values import TextList
from sampan.schema.regex.engine import Regex, compile_regex
from sampan.schema.regex.errors import SearchTooLong


@functools.lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> Regex:
    """Compile a pattern. **Raises** CelRuntimeError."""
    try:
        return compile_regex(pattern)
    except ValueError as error:
        raise CelRuntimeError(str(error)) from None


def matches(text: str, pattern: str) -> bool:
    """Report whether the pattern matches anywhere in the text. **Raises** CelRuntimeError."""
    try:
        return compile_pattern(pattern).matches(text)
    except SearchTooLong as error:
        raise CelRuntimeError(str(error)) from None


def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern, 1)), "")


def _find_all(text: str, pattern: str, count: int = -1) -> TextList:
    # A match takes as long as a step, but costs a tenth of one, as in Kubernetes.
    charge(len(text) if count < 0 else min(len(text), count))
    found = compile_pattern(pattern).find_all(text)
    try:
        return TextList(found if count < 0 else islice(found, count))
    except SearchTooLong as error:
        raise CelRuntimeError(str(error)) from None


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
