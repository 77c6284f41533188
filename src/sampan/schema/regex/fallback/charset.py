"""Sets of characters: sorted, disjoint ranges of code points.

Source: Go regexp/syntax perl_groups.go, parse.go (1.24).
"""

import functools
import re
import sys
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

Range = tuple[int, int]
Charset = tuple[Range, ...]
"""Ranges with both ends included."""

ANY: Final[Charset] = ((0, sys.maxunicode),)
NEWLINE: Final[Charset] = ((10, 10),)
DIGIT: Final[Charset] = ((48, 57),)
SPACE: Final[Charset] = ((9, 10), (12, 13), (32, 32))
WORD: Final[Charset] = ((48, 57), (65, 90), (95, 95), (97, 122))
PERL: Final = {"d": DIGIT, "s": SPACE, "w": WORD}
POSIX: Final[dict[str, Charset]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": DIGIT,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
_CATEGORY: Final = re.compile("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")


def union(ranges: Iterable[Range]) -> Charset:
    """Return the set of all code points in the ranges."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged)


def negated(charset: Charset) -> Charset:
    """Return the set of all code points that are not in `charset`."""
    gaps, start = [], 0
    for low, high in charset:
        if low > start:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= sys.maxunicode:
        gaps.append((start, sys.maxunicode))
    return tuple(gaps)


def contains(charset: Charset, code: int) -> bool:
    """Report whether a code point is in the set."""
    at = bisect_right(charset, (code, sys.maxunicode)) - 1
    return at >= 0 and charset[at][1] >= code


def folded(charset: Charset) -> Charset:
    """Return the set with all characters that differ only in case."""
    orbits = _orbits()
    ranges = list(charset)
    for low, high in charset:
        codes = orbits.keys() if high - low > len(orbits) else range(low, high + 1)
        ranges += [(other, other) for code in codes if low <= code <= high for other in orbits.get(code, ())]
    return union(ranges)


@functools.cache
def category(name: str) -> Charset | None:
    """Return the characters of a general category, such as `Lu` or `L`; None if there is none of this name."""
    if name == "Any":
        return ANY
    if not _CATEGORY.fullmatch(name):
        return None
    codes = (code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)).startswith(name))
    return _runs(codes)


def _runs(codes: Iterable[int]) -> Charset:
    """Join ascending code points to ranges."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return tuple((low, high) for low, high in runs)


@functools.cache
def _orbits() -> dict[int, tuple[int, ...]]:
    """Return the case variants of each character that has any, including the character itself."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if len(key := character.casefold()) == 1 or len(key := character.lower()) == 1:
            groups[key].append(code)
    return {code: tuple(group) for group in groups.values() if len(group) > 1 for code in group}
