"""Routes of arrows: from which side of a box to which side of another, with right angles."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from scripts.pictures.description import Arrow, Box

Point = tuple[float, float]

_OPPOSITE: Final = {"right": "left", "left": "right", "bottom": "top", "top": "bottom"}


def route(arrow: Arrow, start: Box, end: Box) -> list[Point]:
    """Return the corners of an arrow, in units."""
    leaving, entering = arrow.sides or _sides(start, end)
    first, last = _point(start, leaving, arrow.offset[0]), _point(end, entering, arrow.offset[1])
    if {leaving, entering} <= {"left", "right"}:
        if not arrow.sides:
            first, last = _aligned(start, end, first, last, arrow.shift, axis=1)
        return _bent(first, last, leaving, entering, axis=0)
    if {leaving, entering} <= {"top", "bottom"}:
        if not arrow.sides:
            first, last = _aligned(start, end, first, last, arrow.shift, axis=0)
        return _bent(first, last, leaving, entering, axis=1)
    corner = (last[0], first[1]) if leaving in {"left", "right"} else (first[0], last[1])
    return [first, corner, last]


def longest(points: Sequence[Point]) -> tuple[Point, Point]:
    """Return the ends of the longest part."""
    return max(pairwise(points), key=lambda part: _length(*part))


def _length(a: Point, b: Point) -> float:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _sides(start: Box, end: Box) -> tuple[str, str]:
    if end.at[0] >= start.at[0] + start.size[0]:
        side = "right"
    elif end.at[0] + end.size[0] <= start.at[0]:
        side = "left"
    else:
        side = "bottom" if end.at[1] > start.at[1] else "top"
    return side, _OPPOSITE[side]


def _point(box: Box, side: str, offset: float) -> Point:
    (x, y), (width, height) = box.at, box.size
    return {
        "left": (x, y + height / 2 + offset),
        "right": (x + width, y + height / 2 + offset),
        "top": (x + width / 2 + offset, y),
        "bottom": (x + width / 2 + offset, y + height),
    }[side]


def _aligned(start: Box, end: Box, first: Point, last: Point, shift: float, *, axis: int) -> tuple[Point, Point]:
    """Move both ends to the middle of the edges' common part, so that the line is straight if it can be."""
    low = max(start.at[axis], end.at[axis])
    high = min(start.at[axis] + start.size[axis], end.at[axis] + end.size[axis])
    if high <= low:
        return first, last
    middle = (low + high) / 2 + shift
    return ((first[0], middle), (last[0], middle)) if axis == 1 else ((middle, first[1]), (middle, last[1]))


def _bent(first: Point, last: Point, leaving: str, entering: str, *, axis: int) -> list[Point]:
    """Return a straight line, or one with two corners: between the boxes, or next to them for a way back."""
    if first[1 - axis] == last[1 - axis] and leaving != entering:
        return [first, last]
    middle = (first[axis] + last[axis]) / 2
    if leaving == entering:
        is_far = leaving in {"right", "bottom"}
        middle = max(first[axis], last[axis]) + 1.5 if is_far else min(first[axis], last[axis]) - 1.5
    if axis == 0:
        return [first, (middle, first[1]), (middle, last[1]), last]
    return [first, (first[0], middle), (last[0], middle), last]
