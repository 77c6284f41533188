"""Sets of completion indexes, stored as intervals because a Job may have 100,000 of them.

Source: kube-controller-manager pkg/controller/job/indexed_job_utils.go (1.36).
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sampan.resource import meta

COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
"""Annotation and label of the Pods of an Indexed Job."""

_DIGITS_MAX: Final = 18


class Indexes:
    """A set of indexes, as sorted closed intervals that neither overlap nor touch."""

    __slots__ = ("_intervals",)

    def __init__(self, intervals: Iterable[tuple[int, int]] = ()) -> None:
        """Create the set; the intervals may be in any order and overlap."""
        joined: list[tuple[int, int]] = []
        for first, last in sorted(intervals):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(joined[-1][1], last))
            else:
                joined.append((first, last))
        self._intervals = joined

    @classmethod
    def of(cls, indexes: Iterable[int]) -> "Indexes":
        """Return the set of these indexes."""
        return cls((index, index) for index in indexes)

    @classmethod
    def parse(cls, text: str, completions: int) -> "Indexes":
        """Parse text like `1,3-5,7`. Malformed parts and indexes outside of `completions` are left out."""
        intervals = []
        for part in text.split(",") if text else ():
            first, hyphen, last = part.partition("-")
            begin, end = _number(first), _number(last if hyphen else first)
            if begin is None or end is None or end < begin:
                continue
            if begin >= completions:
                break
            intervals.append((begin, min(end, completions - 1)))
        return cls(intervals)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self._intervals)

    def __contains__(self, index: int) -> bool:
        position = bisect_left(self._intervals, index, key=lambda interval: interval[1])
        return position < len(self._intervals) and self._intervals[position][0] <= index

    def __or__(self, other: "Indexes") -> "Indexes":
        return Indexes([*self._intervals, *other._intervals])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Indexes) and self._intervals == other._intervals

    __hash__ = None  # type: ignore[assignment]  # unhashable, as mutable sets are

    def __str__(self) -> str:
        """Format as in a Job's status: `1,3-5,7,8`. An interval of two is written as two indexes."""
        return ",".join(map(_text, self._intervals))

    def common(self, other: "Indexes") -> int:
        """Return the number of indexes in both sets."""
        return len(self) + len(other) - len(self | other)

    def missing(self, count: int, completions: int) -> list[int]:
        """Return the first `count` indexes below `completions` that are not in the set."""
        found: list[int] = []
        for gap in self._gaps(completions):
            found += gap[: count - len(found)]
            if len(found) >= count:
                break
        return found

    def _gaps(self, completions: int) -> Iterator[range]:
        begin = 0
        for first, last in self._intervals:
            yield range(begin, min(first, completions))
            begin = last + 1
        yield range(begin, completions)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX else None


def _text(interval: tuple[int, int]) -> str:
    first, last = interval
    if first == last:
        return str(first)
    return f"{first}{',' if last == first + 1 else '-'}{last}"


def completion_index(pod: Any) -> int | None:
    """Return the index of a Pod; None if it is missing or malformed."""
    return _number(meta(pod).annotations.get(COMPLETION_INDEX, ""))
