"""Escapes and character classes. Source: Go regexp/syntax parse.go (1.24)."""

import sys
from typing import Final

from sampan.schema.regex.fallback import charset
from sampan.schema.regex.fallback.charset import Charset, Range
from sampan.schema.regex.fallback.nodes import RegexError

_CONTROL: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_OCTAL: Final = frozenset("01234567")
_BAD_ESCAPE: Final = "invalid escape sequence"
_BAD_RANGE: Final = "invalid character class range"


def code_of(text: str, at: int) -> tuple[int, int]:
    """Return the code point of the escape at `at`, a backslash, and the position after it. Raises `RegexError`."""
    start, at = at, at + 1
    if at == len(text):
        raise RegexError("trailing backslash at end of expression", "")
    character, at = text[at], at + 1
    if character in "1234567" and text[at : at + 1] not in _OCTAL:
        raise RegexError(_BAD_ESCAPE, text[start:at])  # a back reference
    if character in _OCTAL:
        end = at
        while end < at + 2 and text[end : end + 1] in _OCTAL:
            end += 1
        return int(text[at - 1 : end], 8), end
    if character == "x":
        return _hexadecimal(text, start, at)
    if character in _CONTROL:
        return _CONTROL[character], at
    if character.isascii() and not character.isalnum():
        return ord(character), at
    raise RegexError(_BAD_ESCAPE, text[start:at])


def _hexadecimal(text: str, start: int, at: int) -> tuple[int, int]:
    if text[at : at + 1] == "{":
        end = at + 1
        while text[end : end + 1] in _HEX:
            end += 1
        digits = text[at + 1 : end]
        if digits and text[end : end + 1] == "}" and int(digits, 16) <= sys.maxunicode:
            return int(digits, 16), end + 1
        raise RegexError(_BAD_ESCAPE, text[start : end + 1])
    digits = text[at : at + 2]
    if len(digits) == 2 and set(digits) <= _HEX:
        return int(digits, 16), at + 2
    raise RegexError(_BAD_ESCAPE, text[start : at + 2])


def named_class(text: str, at: int, *, fold: bool) -> tuple[Charset, int] | None:
    r"""Return the class of `\d`, `\pL` and the like at `at`, and the position after it; None if there is none.

    Raises `RegexError`.
    """
    name = text[at + 1 : at + 2]
    if name and name in "dswDSW":
        found = charset.PERL[name.lower()]
        found = charset.folded(found) if fold else found
        return (found if name.islower() else charset.negated(found)), at + 2
    return _unicode_class(text, at, fold=fold) if name and name in "pP" else None


def _unicode_class(text: str, at: int, *, fold: bool) -> tuple[Charset, int]:
    start, negative, at = at, text[at + 1] == "P", at + 2
    if text[at : at + 1] == "{":
        end = text.find("}", at)
        if end < 0:
            raise RegexError(_BAD_RANGE, text[start:])
        name, at = text[at + 1 : end], end + 1
    else:
        name, at = text[at : at + 1], at + 1
    if name.startswith("^"):
        negative, name = not negative, name[1:]
    found = charset.category(name)
    if found is None:
        raise RegexError(f"{_BAD_RANGE} (scripts need the package google-re2)", text[start:at])
    found = charset.folded(found) if fold else found
    return (charset.negated(found) if negative else found), at


def bracket_class(text: str, at: int, *, fold: bool) -> tuple[Charset, int]:
    """Return the class in brackets at `at`, and the position after it. Raises `RegexError`."""
    start, at = at, at + 1
    negative = text[at : at + 1] == "^"
    at += negative
    first, ranges = at, list[Range]()
    while at == first or text[at : at + 1] != "]":
        if (found := _part_of_class(text, at, fold=fold)) is not None:
            part, at = found
            ranges += part
            continue
        low, after = _class_character(text, at, start)
        high = low
        if text[after : after + 1] == "-" and text[after + 1 : after + 2] not in ("]", ""):
            high, after = _class_character(text, after + 1, start)
            if high < low:
                raise RegexError(_BAD_RANGE, text[at:after])
        ranges += charset.folded(((low, high),)) if fold else ((low, high),)
        at = after
    found_set = charset.union(ranges)
    return (charset.negated(found_set) if negative else found_set), at + 1


def _part_of_class(text: str, at: int, *, fold: bool) -> tuple[Charset, int] | None:
    if text.startswith("[:", at) and (end := text.find(":]", at + 2)) >= 0:
        name = text[at + 2 : end]
        found = charset.POSIX.get(name.removeprefix("^"))
        if found is None:
            raise RegexError(_BAD_RANGE, text[at : end + 2])
        found = charset.folded(found) if fold else found
        return (charset.negated(found) if name.startswith("^") else found), end + 2
    return named_class(text, at, fold=fold) if text[at : at + 1] == "\\" else None


def _class_character(text: str, at: int, start: int) -> tuple[int, int]:
    if at >= len(text):
        raise RegexError("missing closing ]", text[start:])
    return code_of(text, at) if text[at] == "\\" else (ord(text[at]), at + 1)
