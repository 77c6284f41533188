"""Tasks of the main thread of a page, from the trace of the browser: their times, and the processor's time in them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from playwright.sync_api import Page

from tests.dashboard.browser import Browser

_CATEGORIES: Final = ["toplevel", "disabled-by-default-devtools.timeline"]
_MAIN_THREAD: Final = "CrRendererMain"
_TASK: Final = "RunTask"


@dataclass
class Tasks:
    """Longest tasks in milliseconds."""

    longest_ms: float = 0
    longest_cpu_ms: float = 0
    """Time of the processor in a task. Unlike the time on the clock, it does not depend on other processes."""


@contextmanager
def traced_tasks(chromium: Browser, page: Page) -> Iterator[Tasks]:
    """Trace the page in the block. The tasks are known at its end."""
    tasks = Tasks()
    chromium.chromium.start_tracing(page=page, categories=_CATEGORIES)
    try:
        yield tasks
    finally:
        events = json.loads(chromium.chromium.stop_tracing())["traceEvents"]
    found = list(_tasks(events))
    tasks.longest_ms = max((each.get("dur", 0) for each in found), default=0) / 1000
    tasks.longest_cpu_ms = max((each.get("tdur", 0) for each in found), default=0) / 1000


def _tasks(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    main = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == _MAIN_THREAD
    }
    yield from (each for each in events if each["name"] == _TASK and (each["pid"], each["tid"]) in main)
