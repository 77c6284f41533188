"""Processor time of single steps of the event loop."""

import asyncio
import gc
import threading
import time
from collections.abc import Awaitable

# Three times what a step may be in production: test machines are slow.
LOOP_STEP_S_MAX = 0.15


class _Collections:
    """Processor seconds of Python's garbage collector in the thread that made it, during the block."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._began_s = 0.0
        self.total_s = 0.0

    def __enter__(self) -> "_Collections":
        gc.callbacks.append(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        gc.callbacks.remove(self._note)

    def _note(self, phase: str, _: object) -> None:
        if threading.get_ident() != self._thread:
            return
        if phase == "start":
            self._began_s = time.thread_time()
        else:
            self.total_s += time.thread_time() - self._began_s


async def longest_step_time_s(call: Awaitable[object], pause_s: float = 0.001) -> float:
    """Processor seconds that the loop's thread used in its longest step until the call ended.

    The time of other threads and processes does not count, so that a busy machine changes nothing. Nor does that of the
    garbage collector, which depends on all objects of the tests before.
    """
    task = asyncio.ensure_future(call)
    longest_s = 0.0
    with _Collections() as collections:
        while not task.done():
            began_s = time.thread_time() - collections.total_s
            await asyncio.sleep(pause_s)
            longest_s = max(longest_s, time.thread_time() - collections.total_s - began_s)
    await task
    return longest_s
