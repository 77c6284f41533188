"""Progress bar on the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from sampan.core.clock import monotonic

Advance = Callable[[int, int], None]
"""Function of the amount done and the total."""

_INTERVAL_S: Final = 0.1
_WIDTH: Final = 30
_CLEAR_LINE: Final = "\r\x1b[K"


@contextmanager
def progress_bar(title: str, clock: Callable[[], float] = monotonic) -> Iterator[Advance]:
    """Show a bar on standard error until the end of the block, if that is a terminal.

    `clock` returns monotonic seconds.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    began = shown = clock()

    def advance(done: int, total: int) -> None:
        nonlocal shown
        now = clock()
        if now - shown >= _INTERVAL_S:
            shown = now
            _write(_CLEAR_LINE + progress_line(title, done, total, now - began))

    try:
        yield advance
    finally:
        _write(_CLEAR_LINE)


def progress_line(title: str, done: int, total: int, elapsed_s: float) -> str:
    """Return the line that shows a progress: `copying ━━━━━━             120/400 0:00:07 left`."""
    filled = _WIDTH * min(done, total) // total if total else 0
    line = f"{title} {'━' * filled:{_WIDTH}} {done}/{total}"
    if not done or done >= total:
        return line
    minutes, seconds = divmod(round(elapsed_s * (total - done) / done), 60)
    return f"{line} {minutes // 60}:{minutes % 60:02}:{seconds:02} left"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
