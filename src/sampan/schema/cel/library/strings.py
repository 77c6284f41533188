"""Strings extension, version 2. Source: cel-go ext/strings.go (0.26); costs: apiserver pkg/cel/library/cost.go."""

import math
from typing import Any

from sampan.schema.cel.declarations import (
    Library,
    first_deep_traversal,
    first_traversal,
    first_traversal_twice,
    function,
    late,
    member,
    with_cost,
)
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.library.formatting import format_text
from sampan.schema.cel.types import DYN, INT, STRING, list_of
from sampan.schema.cel.values import TextList, size_of

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_RESULT_SIZE_MAX = 32 * 1024 * 1024
"""Maximum number of code points in a result. The limit is needed because the costs of these functions do not include
their results.
"""
_LOWER = str.maketrans({chr(code): chr(code + 32) for code in range(65, 91)})
_UPPER = str.maketrans({chr(code + 32): chr(code) for code in range(65, 91)})
_QUOTED = str.maketrans(
    {
        "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
        "\\": "\\\\", '"': '\\"',
    }
)  # fmt: skip


def _out_of_range(index: int) -> CelRuntimeError:
    return CelRuntimeError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return text.find(part, offset)


def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part) if part else len(text)


def _last_index_of_before(text: str, part: str, offset: int) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    if offset >= len(text):
        return -1
    return text.rfind(part, 0, offset + len(part))


def _lower(text: str) -> str:
    return text.translate(_LOWER)


def _upper(text: str) -> str:
    return text.translate(_UPPER)


def _bounded(size: int) -> None:
    if size > _RESULT_SIZE_MAX:
        raise CelRuntimeError("string size exceeds limit")


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    found = len(text) + 1 if not old else text.count(old) if len(new) > len(old) else 0
    _bounded(len(text) + (found if count < 0 else min(found, count)) * len(new))
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> TextList:
    return TextList(_parts(text, separator, count))


def _parts(text: str, separator: str, count: int) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator) if count < 0 else text.split(separator, count - 1)
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_range(text: str, start: int, end: int) -> str:
    if start > end:
        raise CelRuntimeError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def _trim(text: str) -> str:
    return text.strip(_SPACE)


def _join(items: list[Any], separator: str = "") -> str:
    for item in items:
        if not isinstance(item, str):
            raise CelRuntimeError(f"join: invalid input: {item}")
    _bounded(len(separator) * len(items))
    return separator.join(items)


@late
def _join_cost(args: tuple[Any, ...], result: Any) -> int:
    return math.ceil(size_of(result) * 2 * 0.1)


def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


STRINGS = Library(
    (
        member("charAt", "string_char_at_int", (STRING, INT), STRING, _char_at),
        *with_cost(
            first_deep_traversal,
            (
                member("indexOf", "string_index_of_string", (STRING, STRING), INT, _index_of),
                member("indexOf", "string_index_of_string_int", (STRING, STRING, INT), INT, _index_of),
                member("lastIndexOf", "string_last_index_of_string", (STRING, STRING), INT, _last_index_of),
                member(
                    "lastIndexOf",
                    "string_last_index_of_string_int",
                    (STRING, STRING, INT),
                    INT,
                    _last_index_of_before,
                ),
            ),
        ),
        *with_cost(
            first_traversal,
            (
                member("lowerAscii", "string_lower_ascii", (STRING,), STRING, _lower),
                member("upperAscii", "string_upper_ascii", (STRING,), STRING, _upper),
                member("substring", "string_substring_int", (STRING, INT), STRING, _substring),
                member("substring", "string_substring_int_int", (STRING, INT, INT), STRING, _substring_range),
                member("trim", "string_trim", (STRING,), STRING, _trim),
                member("format", "string_format", (STRING, list_of(DYN)), STRING, format_text),
                function("strings.quote", "strings_quote", (STRING,), STRING, _quote),
            ),
        ),
        *with_cost(
            first_traversal_twice,
            (
                member("replace", "string_replace_string_string", (STRING, STRING, STRING), STRING, _replace),
                member("replace", "string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING, _replace),
                member("split", "string_split_string", (STRING, STRING), list_of(STRING), _split),
                member("split", "string_split_string_int", (STRING, STRING, INT), list_of(STRING), _split),
            ),
        ),
        *with_cost(
            _join_cost,
            (
                member("join", "list_join", (list_of(STRING),), STRING, _join),
                member("join", "list_join_string", (list_of(STRING), STRING), STRING, _join),
            ),
        ),
    )
)
