"""`merge`: three-way merge of texts by lines, with conflicts as diff3 markers.

Lines that all three texts share cut them into regions. A region that only one side has changed is taken from that side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

YOURS: Final = "<<<<<<< yours"
_BASE: Final = "||||||| as written before"
_MIDDLE: Final = "======="
_END: Final = ">>>>>>> new version"

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Merged:
    """Result of a merge."""

    text: str
    conflicts: int


@dataclass(frozen=True, slots=True)
class _Shared:
    """Lines that are equal in all three texts."""

    base: Range
    yours: Range
    new: Range


def merge(base: str, yours: str, new: str) -> Merged:
    """Merge two changes of `base`. A text with CRLF at its line ends keeps them."""
    if "\r\n" in yours and "\r\n" not in base:
        merged = merge(base, yours.replace("\r\n", "\n"), new)
        return Merged(merged.text.replace("\n", "\r\n"), merged.conflicts)
    if yours in (base, new):
        return Merged(new, 0)
    if new == base:
        return Merged(yours, 0)
    lines = [text.splitlines(keepends=True) for text in (base, yours, new)]
    parts: list[str] = []
    conflicts = 0
    at = (0, 0, 0)
    for shared in _shared(*lines):
        between = [lines[i][at[i] : start] for i, start in enumerate(_starts(shared))]
        chosen = _choose(*between)
        conflicts += chosen is None
        parts += _conflict(*between) if chosen is None else chosen
        parts += lines[1][slice(*shared.yours)]
        at = (shared.base[1], shared.yours[1], shared.new[1])
    ended = [part if part.endswith("\n") else f"{part}\n" for part in parts[:-1]]
    return Merged("".join([*ended, *parts[-1:]]), conflicts)


def _starts(shared: _Shared) -> tuple[int, int, int]:
    return shared.base[0], shared.yours[0], shared.new[0]


def _choose(base: Sequence[str], yours: Sequence[str], new: Sequence[str]) -> Sequence[str] | None:
    """Return the lines of the side that has changed, or None if both have."""
    if _same_text(yours, new) or _same_text(base, new):
        return yours
    return new if _same_text(base, yours) else None


def _same_text(left: Sequence[str], right: Sequence[str]) -> bool:
    """Compare lines. The end of a file without a line end is no difference."""
    return "".join(left).rstrip("\n") == "".join(right).rstrip("\n") if left and right else list(left) == list(right)


def _conflict(base: Sequence[str], yours: Sequence[str], new: Sequence[str]) -> list[str]:
    parts = []
    for mark, lines in ((YOURS, yours), (_BASE, base), (_MIDDLE, new)):
        parts += [f"{mark}\n", *(line if line.endswith("\n") else f"{line}\n" for line in lines)]
    return [*parts, f"{_END}\n"]


def _shared(base: Sequence[str], yours: Sequence[str], new: Sequence[str]) -> Iterator[_Shared]:
    """Yield the regions of equal lines in order, and an empty one at the end."""
    left, right = _matches(base, yours), _matches(base, new)
    i = j = 0
    while i < len(left) and j < len(right):
        (left_base, left_at, left_size), (right_base, right_at, right_size) = left[i], right[j]
        start, end = max(left_base, right_base), min(left_base + left_size, right_base + right_size)
        if start < end:
            mine, theirs = left_at + start - left_base, right_at + start - right_base
            size = end - start
            yield _Shared((start, end), (mine, mine + size), (theirs, theirs + size))
        if left_base + left_size < right_base + right_size:
            i += 1
        else:
            j += 1
    yield _Shared((len(base), len(base)), (len(yours), len(yours)), (len(new), len(new)))


def _matches(base: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the equal lines of two texts. Line ends at the end of a file do not count."""
    plain = [line.rstrip("\n") for line in base], [line.rstrip("\n") for line in other]
    blocks = SequenceMatcher(None, *plain, autojunk=False).get_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks]
