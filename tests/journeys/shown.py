"""`matches`: compares output with what a page shows.

`...` stands for any words in a line, or none; alone, for any number of lines. Spaces at the ends do not count, and
several spaces equal one, as columns depend on the longest name. `…` equals `...`. An age such as `4s` stands for any
age, and the end of a Pod's name for that of another Pod.
"""

import re
from collections.abc import Sequence
from typing import Final

_ANY: Final = "..."
_VARIABLE: Final = re.compile(r"((?<=[ (])\d+s(?=[ )])|-[a-z0-9]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}(?= ))")


def matches(shown: Sequence[str], output: str) -> bool:
    """Return True if the output is as shown. Without shown lines, all outputs are."""
    if not any(line.strip() for line in shown):
        return True
    expected = [" ".join(line.split()).replace("…", _ANY) for line in shown if line.strip()]
    found = [" ".join(line.split()).replace("…", _ANY) for line in output.splitlines() if line.strip()]
    # `reached`: numbers of shown lines that the output's lines up to here may have used.
    reached = _skip_any(expected, {0})
    for line in found:
        after = {place for place in reached if place < len(expected) and expected[place] == _ANY}
        after |= {place + 1 for place in reached if place < len(expected) and _line_matches(expected[place], line)}
        reached = _skip_any(expected, after)
    return len(expected) in reached


def _skip_any(expected: Sequence[str], places: set[int]) -> set[int]:
    """Return these places and those after lines that may stand for no line."""
    found = set(places)
    for place, line in enumerate(expected):
        if place in found and line == _ANY:
            found.add(place + 1)
    return found


def _line_matches(expected: str, line: str) -> bool:
    if expected == _ANY:
        return False
    words = f" {expected} ".split(f" {_ANY} ")
    pattern = " (?:.* )?".join(".*".join(_pattern(part) for part in each.split(_ANY)) for each in words)
    return re.fullmatch(pattern, f" {line} ") is not None


def _pattern(text: str) -> str:
    """Return the pattern of a text without `...`."""
    parts = _VARIABLE.split(text)
    return "".join(_variable(part) if number % 2 else re.escape(part) for number, part in enumerate(parts))


def _variable(shown: str) -> str:
    """Return the pattern of an age, or of the end of a Pod's name."""
    return r"\d+[a-z]+(?:\d+s)?" if shown[-1] == "s" and shown[:-1].isdecimal() else "-[a-z0-9]{6,10}-[a-z0-9]{5}"
