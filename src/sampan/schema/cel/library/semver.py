"""Semantic versions, parsed as by blang/semver. Source: apiserver pkg/cel/library/semverlib.go (1.36)."""

import re
from typing import TypeAlias

from sampan.core.field import quote
from sampan.core.numbers.integers import parse_integer
from sampan.schema.cel.declarations import Library, first_traversal, function, member, with_cost
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import BOOL, INT, STRING, struct
from sampan.schema.cel.values import UINT_MAX, LibraryValue

SEMVER_TYPE = struct("kubernetes.Semver")
_NUMBER = r"(0|[1-9][0-9]*)"
_PRE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PRE}(?:\.{_PRE})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?", re.ASCII
)

_Rank: TypeAlias = tuple[int, int, str]


class SemverValue(LibraryValue):
    """Version. Comparisons ignore build metadata."""

    __slots__ = ("numbers", "pre")
    type_name = SEMVER_TYPE.name

    def __init__(self, numbers: tuple[int, int, int], pre: tuple[_Rank, ...]) -> None:
        self.numbers = numbers
        self.pre = pre

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SemverValue) and _compare(self, other) == 0

    def __hash__(self) -> int:
        return hash((self.numbers, self.pre))


def _rank(part: str) -> _Rank:
    """Return the sort key of a part of the pre-release: numbers sort before words."""
    return (0, _number(part), "") if part.isdigit() else (1, 0, part)


def _number(digits: str) -> int:
    return parse_integer(digits, low=0, high=UINT_MAX)


def _parse(text: str) -> SemverValue | None:
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    try:
        pre = tuple(_rank(part) for part in match[4].split(".")) if match[4] else ()
        return SemverValue((_number(match[1]), _number(match[2]), _number(match[3])), pre)
    except ValueError:
        return None


def _normalized(text: str) -> str | None:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped[:1] in tuple("0123456789") else "0" + stripped
    if len(parts) < 3 and any(sign in parts[-1] for sign in "+-"):
        return None
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def _read(text: str, normalize: bool) -> SemverValue | None:
    if normalize:
        normalized = _normalized(text)
        return None if normalized is None else _parse(normalized)
    return _parse(text)


def _semver(text: str, normalize: bool = False) -> SemverValue:
    found = _read(text, normalize)
    if found is None:
        if not text:
            raise CelRuntimeError("Version string empty")
        if text.count(".") < 2:
            raise CelRuntimeError("No Major.Minor.Patch elements found")
        raise CelRuntimeError(f"Invalid character(s) found in version {quote(text)}")
    return found


def _is_semver(text: str, normalize: bool = False) -> bool:
    return _read(text, normalize) is not None


def _compare(left: SemverValue, right: SemverValue) -> int:
    if left.numbers != right.numbers:
        return 1 if left.numbers > right.numbers else -1
    if not left.pre or not right.pre:
        return bool(right.pre) - bool(left.pre)
    return (left.pre > right.pre) - (left.pre < right.pre)


def _greater(left: SemverValue, right: SemverValue) -> bool:
    return _compare(left, right) > 0


def _less(left: SemverValue, right: SemverValue) -> bool:
    return _compare(left, right) < 0


def _major(value: SemverValue) -> int:
    return value.numbers[0]


def _minor(value: SemverValue) -> int:
    return value.numbers[1]


def _patch(value: SemverValue) -> int:
    return value.numbers[2]


_PAIR = (SEMVER_TYPE, SEMVER_TYPE)

SEMVER = Library(
    (
        *with_cost(
            first_traversal,
            (
                function("semver", "string_to_semver", (STRING,), SEMVER_TYPE, _semver),
                function("semver", "string_bool_to_semver", (STRING, BOOL), SEMVER_TYPE, _semver),
                function("isSemver", "is_semver_string", (STRING,), BOOL, _is_semver),
                function("isSemver", "is_semver_string_bool", (STRING, BOOL), BOOL, _is_semver),
            ),
        ),
        member("isGreaterThan", "semver_is_greater_than", _PAIR, BOOL, _greater),
        member("isLessThan", "semver_is_less_than", _PAIR, BOOL, _less),
        member("compareTo", "semver_compare_to", _PAIR, INT, _compare),
        member("major", "semver_major", (SEMVER_TYPE,), INT, _major),
        member("minor", "semver_minor", (SEMVER_TYPE,), INT, _minor),
        member("patch", "semver_patch", (SEMVER_TYPE,), INT, _patch),
    ),
    (SEMVER_TYPE,),
)
