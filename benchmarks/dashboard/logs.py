"""Measurements of the logs in the page: many at once for a short time, and one for a long time."""

from collections.abc import Iterator
from typing import Final

from playwright.sync_api import Page, expect
from tests.dashboard.browser import Browser
from tests.dashboard.measures import heap_bytes, typing_delays
from tests.dashboard.samples import deployment
from tests.dashboard.server import DashboardServer
from tests.dashboard.simulated_logs import SimulatedLogs, pod

from benchmarks.report import report

LOGS: Final = 20
LINES_PER_SECOND: Final = 1000
LOG_LIST: Final = "object/apps/v1/deployments/default/web?tab=logs"
LONG_LOG: Final = "object/core/v1/pods/default/web-0?tab=logs"
_PARTS: Final = 6
"""Heaps that are measured after the log is full: growth would show in each part."""
_COLLECTIONS: Final = 10
_WAVE_S: Final = 35.0
"""Time in which more lines arrive than a quarter of the log."""


def measure_logs(server: DashboardServer, chromium: Browser, seconds: float) -> Iterator[tuple[str, float]]:
    """Yield the figures of the logs of a Deployment whose Pods write without an end."""
    server.shell.replaced.clear()
    server.shell.features = ["stream"]
    logs = SimulatedLogs(server, rate=LINES_PER_SECOND)
    server.create("/apis/apps/v1/namespaces/default/deployments", deployment("web"))
    for i in range(LOGS):
        server.create("/api/v1/namespaces/default/pods", pod(f"web-{i}", app="web"))
        logs.serve(f"web-{i}")
    with chromium.page(LOG_LIST) as page:
        expect(page.get_by_text(f"{LOGS} live")).to_be_visible(timeout=30_000)
        sent = logs.sent
        yield "typing during 20 logs of 1,000 lines/s, 98 %", typing_delays(page, seconds)["p98"]
        report(f"{(logs.sent - sent) / seconds:.0f} lines a second were sent")
        expect(page.get_by_text("older lines were dropped")).to_be_visible(timeout=120_000)
        full, sent = heap_bytes(page), logs.sent
        yield "heap with 100,000 lines of logs", full / 1e6
        page.wait_for_timeout(seconds * 1000)
        yield "heap grown by further lines of logs", (heap_bytes(page) - full) / 1e6
        report(f"{logs.sent - sent:,} further lines were sent")


def measure_long_logs(server: DashboardServer, chromium: Browser, seconds: float) -> Iterator[tuple[str, float]]:
    """Yield the heap with the full log of one Pod, and its growth. `seconds`: duration, with the time to fill it."""
    server.shell.replaced.clear()
    server.shell.features = ["stream"]
    logs = SimulatedLogs(server, rate=LINES_PER_SECOND)
    server.create("/api/v1/namespaces/default/pods", pod("web-0"))
    logs.serve("web-0")
    with chromium.page(LONG_LOG) as page:
        expect(page.get_by_text("older lines were dropped")).to_be_visible(timeout=400_000)
        filled = logs.sent
        heaps, nodes = [_heap(page)], [_nodes(page)]
        left_s = max(0.0, seconds - filled / LINES_PER_SECOND - _WAVE_S)
        for _ in range(_PARTS):
            page.wait_for_timeout(max(0.0, left_s / _PARTS - _WAVE_S) * 1000)
            heaps.append(_heap(page))
            nodes.append(_nodes(page))
        report(f"{logs.sent:,} lines were sent, {filled:,} of them until the log was full")
        report(f"heaps: {', '.join(f'{each / 1e6:.2f}' for each in heaps)} MB; nodes: {', '.join(map(str, nodes))}")
        yield "heap with a full log of 1,000 lines/s", heaps[0] / 1e6
        yield "heap grown by a full log of 1,000 lines/s", (heaps[-1] - heaps[0]) / 1e6


def _heap(page: Page) -> int:
    """Return the largest size in some time: the log keeps dropped lines until they are a quarter of it."""
    found = []
    for _ in range(_COLLECTIONS):
        found.append(heap_bytes(page))
        page.wait_for_timeout(_WAVE_S * 1000 / _COLLECTIONS)
    return max(found)


def _nodes(page: Page) -> int:
    """Return the number of nodes of the document and of detached ones."""
    session = page.context.new_cdp_session(page)
    nodes: int = session.send("Memory.getDOMCounters")["nodes"]
    session.detach()
    return nodes
