"""Signals that end a command: SIGTERM and SIGHUP act like Ctrl-C, even if SIGINT itself is ignored."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def orderly_end() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt the block, so that its `finally` clauses run.

    Servers replace these handlers inside the block. A signal that the parent process had ignored stays ignored: SIGHUP
    under nohup.
    """
    if threading.current_thread() is not threading.main_thread():  # handlers can only be set in the main thread
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Interrupt the main thread as SIGINT would.

    The signal SIGINT is of no use for this: shells start background jobs with SIGINT ignored, and so do nohup and cron.
    """
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):  # that of asyncio, which cancels the main task
        handler(number, frame)
    else:
        raise KeyboardInterrupt
