"""`python -m benchmarks.dashboard` (`make bench ARGS=--dashboard`): the speed and size of the dashboard in Chromium.

The API server is in this process. The Pods of the large list are simulated responses, and so are their events. Only
`served.py` measures a server process: the page at rest, many pages at once, and its files.
"""

import argparse
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import Page, expect
from scripts.web.build import build
from scripts.web.places import ROOT
from tests.dashboard.big_list import PATH, BigList
from tests.dashboard.browser import Browser, browser
from tests.dashboard.many_relations import PODS, TREE, ManyRelations
from tests.dashboard.measures import (
    filter_ms,
    first_paint_ms,
    heap_bytes,
    layouts_ms,
    scroll_frames,
    transfer_bytes,
    tree_ms,
    typing_delays,
)
from tests.dashboard.server import DashboardServer, dashboard_server
from tests.dashboard.tasks import traced_tasks

from benchmarks.dashboard.logs import measure_logs, measure_long_logs
from benchmarks.dashboard.served import measure_served
from benchmarks.report import machine, report, store_table

RESULTS = Path(__file__).parents[1] / "results"
ROWS: Final = 10_000
MANY_ROWS: Final = 100_000
EVENTS_PER_SECOND: Final = 1000
FILTERS: Final = ("99", "status:crash", "age>10d", "/7{2}$/", "col:Restarts>3")
LIST: Final = "list/core/v1/pods"
_PAINTS: Final = 9
_DRAWN_MS: Final = 1000
"""Time in which a list that is complete has been drawn. Before, the first filter waits for that as well."""
_PODS: Final = 1000
_OPENINGS: Final = 9
"""Openings of groups, each of which draws up to 50 Pods more."""


class Gate(NamedTuple):
    """Largest accepted value of a figure, and its unit. `least`: the smallest one instead."""

    bound: float
    unit: str
    least: bool = False

    def holds(self, value: float) -> bool:
        """Return whether a value is accepted."""
        return value >= self.bound if self.least else value <= self.bound

    def __str__(self) -> str:
        return f"at {'least' if self.least else 'most'} {self.bound:g}"


GATES: Final[Mapping[str, Gate]] = {
    "initial transfer": Gate(80, "kB"),
    "all files": Gate(400, "kB"),
    "first paint, median": Gate(300, "ms"),
    "filter of 10,000 rows, slowest": Gate(50, "ms"),
    "scrolling, 95 % of the frames": Gate(34, "ms"),
    "scrolling, longest frame": Gate(100, "ms"),
    "heap with 10,000 rows": Gate(60, "MB"),
    "typing during 1,000 events/s, 98 %": Gate(200, "ms"),
    "heap grown by the events": Gate(10, "MB"),
    "tree of 1,000 objects": Gate(300, "ms"),
    "layout of 5,000 relations, slowest": Gate(500, "ms"),
    "longest task with 5,000 relations, CPU time": Gate(100, "ms"),
    "typing during 20 logs of 1,000 lines/s, 98 %": Gate(200, "ms"),
    "heap with 100,000 lines of logs": Gate(100, "MB"),
    "heap grown by further lines of logs": Gate(10, "MB"),
    "heap with a full log of 1,000 lines/s": Gate(100, "MB"),
    "heap grown by a full log of 1,000 lines/s": Gate(5, "MB"),
    "longest task with 100,000 rows, CPU time": Gate(100, "ms"),
    "files of the page a second": Gate(3000, "/s", least=True),
    "unchanged files a second": Gate(3000, "/s", least=True),
    "processor of the server for 50 pages, more than for watches": Gate(5, "%"),
    "processor of the server at rest": Gate(1, "%"),
    "processor of the browser at rest": Gate(1, "%"),
    "connections of a page at rest": Gate(2, ""),
    "bar after the end of the server": Gate(2000, "ms"),
}


def measure(server: DashboardServer, chromium: Browser, seconds: float) -> Iterator[tuple[str, float]]:
    """Yield the figures by the names of their gates. `seconds`: duration of the events."""
    first, everything = transfer_bytes()
    yield "initial transfer", first / 1000
    yield "all files", everything / 1000
    yield "first paint, median", statistics.median(paints(chromium))
    server.shell.replaced[PATH] = BigList(ROWS).response
    with chromium.page(LIST) as page:
        wait_for_all(page)
        page.wait_for_timeout(_DRAWN_MS)
        yield "filter of 10,000 rows, slowest", max(filter_ms(page, text) for text in FILTERS)
    with chromium.page(LIST) as page:
        wait_for_all(page)
        frames = scroll_frames(page)
        yield "scrolling, 95 % of the frames", frames["p95"]
        yield "scrolling, longest frame", frames["max"]
        yield "heap with 10,000 rows", heap_bytes(page) / 1e6
    pods = BigList(ROWS, events_per_second=EVENTS_PER_SECOND)
    server.shell.replaced[PATH] = pods.response
    with chromium.page(LIST) as page:
        wait_for_all(page)
        before, sent = heap_bytes(page), pods.sent
        yield "typing during 1,000 events/s, 98 %", typing_delays(page, seconds)["p98"]
        yield "heap grown by the events", (heap_bytes(page) - before) / 1e6
        report(f"{(pods.sent - sent) / seconds:.0f} events a second were sent")
    yield "longest task with 100,000 rows, CPU time", many_rows_ms(server, chromium)
    yield from measure_relations(server, chromium)
    yield from measure_logs(server, chromium, seconds)


def many_rows_ms(server: DashboardServer, chromium: Browser) -> float:
    """Return the longest task while a list of very many Pods is read, filtered, sorted and scrolled."""
    server.shell.replaced[PATH] = BigList(MANY_ROWS).response
    with chromium.page("list/core/v1/services") as page:
        expect(page.get_by_role("row", name="kubernetes")).to_be_visible()
        with traced_tasks(chromium, page) as tasks:
            page.get_by_role("link", name="Pods", exact=True).first.click()
            wait_for_all(page, MANY_ROWS)
            for text in FILTERS:
                page.locator("#filter").fill(text)
                expect(page.locator(".count")).to_have_text(re.compile(rf"^[\d,]+ of {MANY_ROWS:,}$"), timeout=60_000)
            page.locator("#filter").fill("")
            wait_for_all(page, MANY_ROWS)
            page.get_by_role("button", name="Sort by Restarts").click()
            expect(page.get_by_role("columnheader", name="Restarts")).to_have_attribute("aria-sort", "ascending")
            frames = scroll_frames(page, rows_a_frame=1000)
        report(f"100,000 rows: heap {heap_bytes(page) / 1e6:.0f} MB, {frames['nodes']} nodes in the document")
        report(f"on the clock, the longest task took {tasks.longest_ms:.0f} ms")
        return tasks.longest_cpu_ms


def measure_relations(server: DashboardServer, chromium: Browser) -> Iterator[tuple[str, float]]:
    """Yield the figures of the tree and of the graph of 1,000 Pods with 5,000 relations."""
    server.shell.replaced[PODS] = ManyRelations(server, _PODS).response
    with chromium.page(TREE) as page:
        expect(page.get_by_role("treeitem").first).to_be_visible(timeout=60_000)
        page.get_by_role("radio", name="Table").check()
        expect(page.get_by_role("row").first).to_be_visible()
        yield "tree of 1,000 objects", tree_ms(page)
    with chromium.page("list/core/v1/services") as page:
        expect(page.get_by_role("row", name="hub")).to_be_visible()
        with traced_tasks(chromium, page) as tasks:
            page.get_by_role("link", name="hub", exact=True).click()
            page.get_by_role("tab", name="Relations").click()
            page.get_by_role("radio", name="Graph").check()
            expect(page.get_by_text("5,010 relations")).to_be_visible(timeout=60_000)
            for _ in range(_OPENINGS):
                page.get_by_role("button", name="Show all").click()
                page.locator(".gnode.group").last.press("Enter")
                expect(page.locator(".gnode:focus")).to_have_count(1)
        yield "layout of 5,000 relations, slowest", max(layouts_ms(page))
        yield "longest task with 5,000 relations, CPU time", tasks.longest_cpu_ms
        report(f"on the clock, the longest task took {tasks.longest_ms:.0f} ms")


def paints(chromium: Browser) -> Iterator[float]:
    """Yield the times of first paints in milliseconds, each in a new page."""
    for _ in range(_PAINTS):
        with chromium.page() as page:
            yield first_paint_ms(page)


def wait_for_all(page: Page, count: int = ROWS) -> None:
    """Wait until the list is complete."""
    expect(page.get_by_text(f"{count:,} objects", exact=True)).to_be_visible(timeout=180_000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, store the figures, and return 1 if a figure is over its gate."""
    parser = argparse.ArgumentParser(prog="benchmarks.dashboard", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="duration of the events (60)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to store the results")
    parser.add_argument(
        "--log-minutes",
        type=float,
        default=0,
        help="measure only a log of 1,000 lines/s, for this time, and store nothing",
    )
    given = parser.parse_args(arguments)
    build(ROOT)
    figures: dict[str, float] = {}
    if given.log_minutes:
        with dashboard_server("none", 1) as server, browser(server.address) as chromium:
            for name, value in measure_long_logs(server, chromium, given.log_minutes * 60):
                figures[name] = value
                note(name, value)
        return result_of(figures)
    with dashboard_server("none", 1) as server, browser(server.address) as chromium:
        for name, value in measure(server, chromium, given.seconds):
            figures[name] = value
            note(name, value)
    # At rest, no other browser runs.
    for name, value in measure_served(given.seconds):
        figures[name] = value
        note(name, value)
    report(f"stored in {store(figures, machine(), given.results)}")
    return result_of(figures)


def result_of(figures: Mapping[str, float]) -> int:
    """Return the exit code: 1 if a figure is over its gate."""
    return 0 if all(GATES[name].holds(value) for name, value in figures.items()) else 1


def note(name: str, value: float) -> None:
    """Print a figure with its gate."""
    report(f"{name:60} {value:8.1f} {GATES[name].unit}   {GATES[name]}")


def store(figures: Mapping[str, float], about: Mapping[str, str], directory: Path) -> Path:
    """Write the results as Markdown and JSON, named by the time. Return the path of the Markdown file."""
    rows = [(name, f"{value:.1f} {GATES[name].unit}".strip(), str(GATES[name])) for name, value in figures.items()]
    return store_table("the dashboard", figures, [("figure", "value", "gate"), *rows], about, directory / "dashboard")


if __name__ == "__main__":
    sys.exit(main())
