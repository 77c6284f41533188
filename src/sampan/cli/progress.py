"""Progress of long work: a bar on a terminal, or plain lines if there is no terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from sampan.core.clock import monotonic

Advance = Callable[[int, int], None]
"""Function of the amount done and the total; the total is 0 while it is unknown."""

BAR_INTERVAL_S: Final = 0.1
LINE_FIRST_S: Final = 2.0
"""Time before the first plain line: quick work prints none."""
LINE_INTERVAL_S: Final = 10.0
_WIDTH: Final = 30
_CLEAR_LINE: Final = "\r\x1b[K"


@contextmanager
def progress_bar(*titles: str, clock: Callable[[], float] = monotonic) -> Iterator[Advance]:
    """Show the progress on standard error until the end of the block.

    A terminal shows a bar, which is removed at the end. Otherwise, for example in CI, a line is printed after
    `LINE_FIRST_S`, then one every `LINE_INTERVAL_S`. `clock` returns monotonic seconds.

    Work in several steps has a title for each. A step ends when the total changes or the amount done does not grow.
    The remaining time is that of the step.
    """
    terminal = sys.stderr.isatty()
    began = clock()
    last, steps = (0, 0), iter(titles)
    title = next(steps)
    due = began + (BAR_INTERVAL_S if terminal else LINE_FIRST_S)

    def advance(done: int, total: int) -> None:
        nonlocal due, began, last, title
        now = clock()
        if last[0] and (done <= last[0] or total != last[1]) and (following := next(steps, "")):
            title, began = following, now
        last = (done, total)
        if now < due:
            return
        due = now + (BAR_INTERVAL_S if terminal else LINE_INTERVAL_S)
        if terminal:
            _write(_CLEAR_LINE + progress_line(title, done, total, now - began))
        else:
            _write(plain_line(title, done, total, now - began) + "\n")

    try:
        yield advance
    finally:
        if terminal:
            _write(_CLEAR_LINE)


def progress_line(title: str, done: int, total: int, elapsed_s: float) -> str:
    """Return the line that shows the progress on a terminal: `copying ━━━━━━             120/400 0:00:07 left`."""
    if not total:
        return f"{title} {done}"
    filled = _WIDTH * min(done, total) // total
    line = f"{title} {'━' * filled:{_WIDTH}} {done}/{total}"
    left = _time_left(done, total, elapsed_s)
    return f"{line} {left}" if left else line


def plain_line(title: str, done: int, total: int, elapsed_s: float) -> str:
    """Return a plain line, for logs: `copying: 120 of 400 (30 %), 0:00:07 left`."""
    if not total:
        return f"{title}: {done}"
    left = _time_left(done, total, elapsed_s)
    return f"{title}: {done} of {total} ({100 * min(done, total) // total} %)" + (f", {left}" if left else "")


def _time_left(done: int, total: int, elapsed_s: float) -> str:
    """Return the expected remaining time; empty if it is unknown or has passed."""
    if not done or not elapsed_s or done >= total:
        return ""
    minutes, seconds = divmod(round(elapsed_s * (total - done) / done), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} left"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
