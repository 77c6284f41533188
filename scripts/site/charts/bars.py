"""Charts of bars: memory beside kube-apiserver's, and the start of Pods."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.scenarios import BY_NAME, MEMORY
from scripts.site.charts.results import NODE, SERVER, results, with_figure
from scripts.site.charts.scales import Linear, number
from scripts.site.charts.svg import WIDTH, bar, drawing, line, text

_TOP: Final = 62
_ROW: Final = 30
_BAR: Final = 18
_NUMBER: Final = 50
"""Width of the number after a bar."""
_RIGHT: Final = WIDTH - 76


@dataclass(frozen=True, slots=True)
class _Bar:
    """A row of the chart."""

    label: str
    value: float
    style: str = "own"
    goal: float = 0.0


def memory() -> str:
    """Return the chart of resident memory, over the results, beside kube-apiserver's with etcd."""
    found = with_figure(SERVER, MEMORY)
    rows = [_Bar(f"Sampan, {each.day} {each.at:%H:%M}", each.figures[MEMORY]) for each in found]
    rows.append(_Bar("kube-apiserver with etcd", BY_NAME[MEMORY].reference, "other"))
    note = "At the end of all scenarios with 5,000 objects each"
    return _chart("memory", "Resident memory", note, "MB", rows, left=190)


def pod_start() -> str:
    """Return the chart of the start and end of Pods with containers."""
    found = results(NODE)
    count = found[-1].machine["pods"]
    titles = {
        "one": ("One Pod: create to Ready, median", 1.0),
        "many": (f"{count} Pods: create to all Ready", 10.0),
        "removal": (f"{count} Pods: delete to gone", 8.0),
    }
    rows = [
        _Bar(title if len(found) == 1 else f"{title}, {each.day}", each.figures[name], goal=goal)
        for name, (title, goal) in titles.items()
        for each in found
    ]
    note = f"{found[-1].day} {found[-1].at.year}, containerd, {found[-1].machine['cores']} cores. Dashed: the goal"
    return _chart("pod-start", "Start and end of Pods with containers", note, "seconds", rows, left=240)


def _chart(name: str, title: str, note: str, unit: str, rows: Sequence[_Bar], *, left: float) -> str:
    described = [
        f"{each.label}: {number(each.value)}" + (f", goal {number(each.goal)}" if each.goal else "") for each in rows
    ]
    height = _TOP + _ROW * len(rows) + 44
    about = f"{title} in {unit}. {'; '.join(described)}."
    parts = [text(0, 18, title, "head"), text(0, 37, note, "soft"), *_rows(rows, unit, left, height - 36)]
    return drawing(name, title, about, height, parts)


def _rows(rows: Sequence[_Bar], unit: str, left: float, bottom: float) -> Iterator[str]:
    scale = Linear(max(max(each.value, each.goal) for each in rows) * 1.02, left, _RIGHT)
    for tick in scale.ticks(5):
        yield line(scale(tick), _TOP - 10, scale(tick), bottom, "axis" if tick == 0 else "grid")
        yield text(scale(tick), bottom + 16, number(tick) if tick else "0", "soft", "middle")
    yield text((left + _RIGHT) / 2, bottom + 32, unit, "soft", "middle")
    for place, each in enumerate(rows):
        y = _TOP + _ROW * place
        yield text(left - 12, y + _BAR / 2 + 4, each.label, "", "end")
        yield bar(left, y, scale(each.value) - left, _BAR, each.style)
        end = scale(each.value)
        # A goal that would cross the number is before it.
        start = scale(each.goal) if end < scale(each.goal) < end + _NUMBER else end
        yield text(start + 8, y + _BAR / 2 + 4, number(each.value), f"{each.style}-text")
        if each.goal:
            yield line(scale(each.goal), y - 3, scale(each.goal), y + _BAR + 3, "goal")
