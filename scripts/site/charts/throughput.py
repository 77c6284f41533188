"""Chart of the throughput beside that of kube-apiserver: one row for each kind of request."""

from collections.abc import Iterator
from typing import Final

from benchmarks.scenarios import SCENARIOS, Scenario
from scripts.site.charts.results import SERVER, Result, results
from scripts.site.charts.scales import Logarithmic, number
from scripts.site.charts.svg import WIDTH, dot, drawing, line, text

NAME: Final = "throughput"
_LEFT: Final = 190
_RIGHT: Final = 580
_TOP: Final = 78
_ROW: Final = 30
_NEAR: Final = 10
_EVENTS: Final = "watch"
"""Scenario that counts events, not requests."""


def throughput() -> str:
    """Return the chart of the newest result."""
    result = results(SERVER)[-1]
    rows = compared(result)
    height = _TOP + _ROW * len(rows) + 46
    title = "Requests per second: Sampan and kube-apiserver"
    described = [f"{each.title}: Sampan {number(result.figures[each.name])}, {number(each.reference)}" for each in rows]
    about = f"Requests per second on a logarithmic scale, Sampan first, then kube-apiserver. {'; '.join(described)}."
    return drawing(NAME, title, about, height, _parts(result, rows, height))


def compared(result: Result) -> list[Scenario]:
    """Return the scenarios with a figure of kube-apiserver, in requests per second."""
    rates = [each for each in SCENARIOS if each.reference and each.unit == "/s" and each.name != _EVENTS]
    return [each for each in rates if each.name in result.figures]


def _parts(result: Result, rows: list[Scenario], height: float) -> Iterator[str]:
    values = [value for each in rows for value in (result.figures[each.name], each.reference)]
    scale = Logarithmic(_power_below(min(values)), _power_above(max(values)), _LEFT, _RIGHT)
    bottom = height - 40
    yield text(0, 18, "Requests per second", "head")
    yield text(0, 37, f"{result.day} {result.at.year}, {result.machine['cores']} cores, 5,000 objects", "soft")
    for tick in scale.ticks():
        yield line(scale(tick), _TOP - 18, scale(tick), bottom, "grid")
        yield text(scale(tick), bottom + 16, number(tick), "soft", "middle")
    yield text((_LEFT + _RIGHT) / 2, height - 6, "requests per second, logarithmic scale", "soft", "middle")
    yield text(WIDTH, _TOP - 26, "times as many", "soft", "end")
    for place, each in enumerate(rows):
        yield from _row(each, result.figures[each.name], _TOP + _ROW * place, scale, is_first=place == 0)


def _row(each: Scenario, value: float, y: float, scale: Logarithmic, *, is_first: bool) -> Iterator[str]:
    own, other = scale(value), scale(each.reference)
    yield text(_LEFT - 14, y + 4, each.title, "", "end")
    yield line(other, y, own, y, "gap")
    yield dot(other, y, 5, "other")
    yield dot(own, y, 6, "own")
    left, right = sorted([(other, number(each.reference), "other-text"), (own, number(value), "own-text")])
    yield text(left[0] - _NEAR, y + 4, left[1], left[2], "end")
    yield text(right[0] + _NEAR, y + 4, right[1], right[2])
    yield text(WIDTH, y + 4, f"{_times(value / each.reference)}×", "own-text", "end")
    if is_first:
        yield text(other, y - 26, "kube-apiserver", "other-text", "end")
        yield text(own, y - 26, "Sampan", "own-text")


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _power_below(value: float) -> float:
    return next(10.0**power for power in range(9, -9, -1) if 10.0**power <= value)


def _power_above(value: float) -> float:
    return next(10.0**power for power in range(-9, 12) if 10.0**power >= value)
