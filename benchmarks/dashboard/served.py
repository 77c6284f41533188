"""Measurements of the page at a server process: at rest, when the server ends, many pages at once, and its files."""

import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat, takewhile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, expect
from scripts.web.places import ROOT, TARGET
from tests.dashboard.browser import Browser, browser

from benchmarks import objects
from benchmarks.connection import Connection, Target, build_request, drive, drive_steadily
from benchmarks.dashboard.session import Session, log_in
from benchmarks.dashboard.streams import Watchers
from benchmarks.report import report
from benchmarks.server import NO_LOOPS, Server, prepare, running

LIST: Final = f"dashboard/list/core/v1/configmaps?ns={objects.NAMESPACE}"
PAGES: Final = 50
_SESSIONS: Final = 10
"""A session may have 16 pages."""
_WRITES_PER_SECOND: Final = 40
_WRITES: Final = 400
_REPETITIONS: Final = 3
_SETTLE_MS: Final = 95_000
"""The server closes connections that have had no request for 90 s."""
_STATIC_S: Final = 5.0
_CONNECTIONS: Final = 8
_BAR: Final = """() => new Promise((done) => {
  const look = () => document.querySelector(".connection") && done(Date.now());
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
})"""


def measure_served(seconds: float) -> Iterator[tuple[str, float]]:
    """Yield the figures by the names of their gates. `seconds`: duration of the rest."""
    with _server() as (server, session):
        yield from measure_files(server.target)
        yield "processor of the server for 50 pages, more than for watches", watching_more(server)
        address = f"https://{server.target.host}:{server.target.port}"
        with browser(address) as chromium, _opened(chromium, session) as page:
            yield from measure_rest(server, chromium, page, seconds)
            yield "bar after the end of the server", bar_ms(server, page)


def measure_files(target: Target) -> Iterator[tuple[str, float]]:
    """Yield the requests a second for the largest file of the first page, and for one that the browser has."""
    folder = ROOT / TARGET
    shell = (folder / "index.html").read_text()
    sizes = {path.name: path.stat().st_size for path in folder.glob("*.br") if path.name[:-3] in shell}
    path = f"/dashboard/static/{max(sizes, key=lambda name: sizes[name])[:-3]}"
    yield "files of the page a second", requests_per_second(target, path, accept_encoding="br")
    etag = json.loads((folder / "meta.json").read_text())["files"][path.rpartition("/")[2]]["etag"]
    unchanged = requests_per_second(target, path, accept_encoding="br", if_none_match=f'"{etag}-br"')
    yield "unchanged files a second", unchanged


def requests_per_second(target: Target, path: str, **headers: str) -> float:
    """Return how many requests the server answers in a second on a few connections."""
    request = build_request(target, "GET", path, b"", **headers).replace(b"Accept-Encoding: gzip\r\n", b"")
    connections = [Connection(target) for _ in range(_CONNECTIONS)]
    end = time.monotonic() + _STATIC_S
    try:
        load = drive(connections, takewhile(lambda _: time.monotonic() < end, repeat(request)))
    finally:
        for each in connections:
            each.close()
    unchanged = "if_none_match" in headers
    if load.errors != (len(load.sent) if unchanged else 0):
        raise RuntimeError(f"{path}: {load.first_error}")
    return len(load.sent) / (load.ended - load.started)


def watching_more(server: Server) -> float:
    """Return the processor's time for pages in percent more than for plain watches of the same list.

    The pages are clients that speak the protocol of the page: as many browsers would need the processor themselves.
    """
    sessions = [log_in(server.target) for _ in range(_SESSIONS)]
    plain, pages = [], []
    for i in range(_REPETITIONS):
        plain.append(_processor_s(server, (), f"plain{i}"))
        pages.append(_processor_s(server, sessions, f"page{i}"))
        report(f"{PAGES} watches: {plain[-1]:.2f} s of the processor, {PAGES} pages: {pages[-1]:.2f} s")
    # The least of each: other processes can only add to the time.
    return (min(pages) / min(plain) - 1) * 100


def measure_rest(server: Server, chromium: Browser, page: Page, seconds: float) -> Iterator[tuple[str, float]]:
    """Yield what an open page needs that nobody uses."""
    page.wait_for_timeout(_SETTLE_MS)
    watched = chromium.chromium.new_browser_cdp_session()
    before, began = (cpu_s(server.pid), _browser_s(watched)), time.monotonic()
    page.wait_for_timeout(seconds * 1000)
    elapsed = time.monotonic() - began
    yield "processor of the server at rest", (cpu_s(server.pid) - before[0]) / elapsed * 100
    yield "processor of the browser at rest", (_browser_s(watched) - before[1]) / elapsed * 100
    yield "connections of a page at rest", connections_of(server.target.port)


def bar_ms(server: Server, page: Page) -> float:
    """End the server. Return the time until the page shows that it is not connected."""
    page.evaluate(f"() => {{ window.barShown = ({_BAR})(); }}")
    ended = time.time()
    os.kill(server.pid, signal.SIGKILL)
    shown: float = page.evaluate("window.barShown")
    return shown - ended * 1000


def cpu_s(pid: int) -> float:
    """Return the processor's time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connections_of(port: int) -> int:
    """Return the number of connections that a server on this port has."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(each[1].endswith(f":{port:04X}") and each[3] == "01" for each in lines)


@contextmanager
def _server() -> Iterator[tuple[Server, Session]]:
    with tempfile.TemporaryDirectory() as data, running(Path(data) / "data", *NO_LOOPS) as server:
        prepare(server.target)
        yield server, log_in(server.target)


@contextmanager
def _opened(chromium: Browser, session: Session) -> Iterator[Page]:
    """Open the list in a page that is logged in."""
    with chromium.context() as context:
        # A request that a route of Playwright handles needs the processor; at rest, the browser is alone.
        context.unroute_all()
        context.add_cookies([{"name": session.name, "value": session.value, "url": chromium.address}])
        page = context.new_page()
        page.goto(f"{chromium.address}/{LIST}")
        expect(page.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible(timeout=30_000)
        yield page


def _processor_s(server: Server, sessions: Sequence[Session], name: str) -> float:
    """Return the processor's time of the server for the writes of objects that all watchers receive."""
    watchers = Watchers(server.target, PAGES, sessions)
    try:
        time.sleep(1)
        before = cpu_s(server.pid)
        bodies = (objects.config_map(i, prefix=name) for i in range(_WRITES))
        headers = {"content_type": "application/json", "accept": "application/json"}
        writes = (build_request(server.target, "POST", objects.CONFIG_MAPS, body, **headers) for body in bodies)
        load = drive_steadily([Connection(server.target) for _ in range(4)], writes, _WRITES_PER_SECOND)
        if load.errors:
            raise RuntimeError(load.first_error)
        return cpu_s(server.pid) - before
    finally:
        watchers.close()


def _browser_s(session: Any) -> float:
    """Return the processor's time of all processes of a browser, in seconds."""
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return float(sum(each["cpuTime"] for each in processes))
