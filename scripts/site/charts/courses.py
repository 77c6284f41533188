"""Small charts side by side: each shows one figure over the stored results, from zero."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scripts.site.charts.results import Result, with_figure
from scripts.site.charts.scales import Linear, number
from scripts.site.charts.svg import WIDTH, course, dot, drawing, line, text

_COLUMNS: Final = 2
_GAP: Final = 44
_PANEL: Final = (WIDTH - _GAP) / _COLUMNS
_PLOT: Final = 120
_HEIGHT: Final = 222
_AXIS: Final = 54
_TOP: Final = 44
_SHOWN_UP_TO: Final = 1.6
"""A line of comparison is drawn if it is at most this many times the largest value."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure, and a value to compare it with."""

    figure: str
    title: str
    unit: str
    compared: float
    compared_with: str


def courses(name: str, title: str, kind: str, measures: Sequence[Measure]) -> str:
    """Return the chart of several figures of one benchmark."""
    rows = -(-len(measures) // _COLUMNS)
    parts = [text(0, 18, title, "head")]
    described = []
    for place, each in enumerate(measures):
        found = with_figure(kind, each.figure)
        left = (place % _COLUMNS) * (_PANEL + _GAP)
        parts += _panel(each, found, left, _TOP + (place // _COLUMNS) * _HEIGHT)
        values = ", ".join(f"{number(one.figures[each.figure])} on {one.day}" for one in found)
        described.append(f"{each.title}, in {each.unit}: {values}; {each.compared_with} {number(each.compared)}")
    return drawing(name, title, f"{'. '.join(described)}.", _TOP + rows * _HEIGHT - 14, parts)


def _panel(measure: Measure, found: Sequence[Result], left: float, top: float) -> Iterator[str]:
    values = [each.figures[measure.figure] for each in found]
    shown = measure.compared <= max(values) * _SHOWN_UP_TO
    bottom = top + 26 + _PLOT
    scale = Linear(max([*values, measure.compared] if shown else values) * 1.15, bottom, top + 26)
    start, end = left + _AXIS, left + _PANEL
    more = "" if shown else f"; {measure.compared_with} {number(measure.compared)}"
    yield text(left, top + 8, f"{measure.title}, {measure.unit}{more}")
    for tick in scale.ticks():
        yield line(start, scale(tick), end, scale(tick), "axis" if tick == 0 else "grid")
        yield text(start - 8, scale(tick) + 4, number(tick) if tick else "0", "soft", "end")
    if shown:
        yield line(start, scale(measure.compared), end, scale(measure.compared), "goal")
        y = scale(measure.compared)
        # The name is on the side of the line where there is no course.
        beside = y + 16 if min(values) > measure.compared else y - 6
        yield text(end, beside, f"{measure.compared_with} {number(measure.compared)}", "soft", "end")
    step = (end - start) / len(found)
    points = [(start + step * (place + 0.5), scale(value)) for place, value in enumerate(values)]
    yield course(points)
    for (x, y), value, each in zip(points, values, found, strict=True):
        yield dot(x, y, 4, "own")
        if each in (found[0], found[-1]):
            yield text(x, y - 10, number(value), "own-text", "middle")
    yield from _dates(found, [x for x, _ in points], bottom)


def _dates(found: Sequence[Result], places: Sequence[float], bottom: float) -> Iterator[str]:
    """Yield the labels of the axis of results: the times, and each day once."""
    day = ""
    for each, x in zip(found, places, strict=True):
        yield text(x, bottom + 16, f"{each.at:%H:%M}", "soft", "middle")
        if each.day != day:
            yield text(x, bottom + 31, each.day, "soft", "middle")
        day = each.day
