"""Measurements of the page in a browser: sizes, paints, frames, reactions to input."""

import json
from typing import Any, Final

from playwright.sync_api import Page, expect
from scripts.web.places import ROOT, TARGET

_FRAMES: Final = """async ([rows, step]) => {
  const grid = document.querySelector('[role=grid]');
  const times = [];
  let last = performance.now();
  for (let top = 0; top < grid.scrollHeight; top += step) {
    grid.scrollTop = top;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - last);
    last = now;
  }
  times.sort((a, b) => a - b);
  const nodes = document.querySelectorAll('*').length;
  const p95 = times[Math.floor(times.length * 0.95)];
  return { frames: times.length, p50: times[times.length >> 1], p95, max: times.at(-1), nodes };
}"""
_TYPING: Final = """async (seconds) => {
  const input = document.getElementById('filter');
  const delays = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const began = performance.now();
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    delays.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 100));
  }
  delays.sort((a, b) => a - b);
  return { p50: delays[delays.length >> 1], p98: delays[Math.floor(delays.length * 0.98)], max: delays.at(-1) };
}"""
_PAINT: Final = """() => new Promise((done) => new PerformanceObserver((list) => {
  for (const entry of list.getEntriesByName('first-contentful-paint')) done(entry.startTime);
}).observe({ type: 'paint', buffered: true }))"""
_SHOWN: Final = """async (text) => {
  const began = performance.now();
  [...document.querySelectorAll(".view-choice label")].find((each) => each.textContent.trim() === text).click();
  while (!document.querySelector(".owner-tree [role=treeitem]")) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""


def transfer_bytes() -> tuple[int, int]:
    """Return the sizes with brotli of what the first page loads, and of all files of the page."""
    folder = ROOT / TARGET
    shell = (folder / "index.html").read_text()
    sizes = {
        name: (folder / f"{name}.br").stat().st_size for name in json.loads((folder / "meta.json").read_text())["files"]
    }
    return len(shell) + sum(size for name, size in sizes.items() if name in shell), sum(sizes.values())


def first_paint_ms(page: Page) -> float:
    """Return the time until the first content was painted."""
    expect(page.get_by_role("heading").first).to_be_visible()
    paint: float = page.evaluate(_PAINT)
    return paint


def filter_ms(page: Page, text: str) -> float:
    """Return the time from the change of the address until the rows are in the document."""
    return float(
        page.evaluate(
            """async (text) => {
              const grid = document.querySelector('[role=grid]');
              const began = performance.now();
              const address = new URL(location.href);
              address.searchParams.set('q', text);
              history.replaceState(null, '', address);
              dispatchEvent(new PopStateEvent('popstate'));
              while (grid.getAttribute('aria-rowcount') === '10001') await new Promise((done) => setTimeout(done));
              return performance.now() - began;
            }""",
            text,
        )
    )


def scroll_frames(page: Page, rows_a_frame: int = 30) -> dict[str, Any]:
    """Scroll a list from end to end. Return times of the frames in milliseconds, and the number of nodes."""
    frames: dict[str, Any] = page.evaluate(_FRAMES, [rows_a_frame, rows_a_frame * 34])
    return frames


def typing_delays(page: Page, seconds: float) -> dict[str, float]:
    """Return the times from an input until the next frame, in milliseconds."""
    delays: dict[str, float] = page.evaluate(_TYPING, seconds)
    return delays


def heap_bytes(page: Page) -> int:
    """Return the size of the heap after a garbage collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: int = session.send("Runtime.getHeapUsage")["usedSize"]
    return used


def layouts_ms(page: Page) -> list[float]:
    """Return the durations of the layouts of the graph of relations."""
    found: list[float] = page.evaluate("performance.getEntriesByName('sampan relations layout').map((e) => e.duration)")
    return found


def tree_ms(page: Page) -> float:
    """Return the time from the choice of the tree of relations until its rows are in the document."""
    return float(page.evaluate(_SHOWN, "Tree"))
