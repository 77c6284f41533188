"""`LoopWatch`: detects when the event loop is blocked, and logs what blocks it.

Concurrency: a timer of the loop is due every `INTERVAL_S` seconds, and records its own delay. A block may be longer
than the delay by up to the interval. A thread checks as often whether the timer is late, and notes what the loop runs
then, for the log. For each check, the thread takes the lock of the interpreter once. In an earlier design, it woke the
loop and waited for it: writes were 5 % slower.

While the loop's thread uses nearly no processor time, each interval is `IDLE_STRETCH` times as long as the last one, up
to `IDLE_MAX_S`. The first request after an idle phase ends a long interval (`note_request`). A block that ends an idle
phase is detected if a request causes it, or if it outlasts the interval.
"""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable
from traceback import extract_stack

from sampan.core.clock import monotonic
from sampan.core.telemetry.durations import Durations

_log = logging.getLogger("sampan.loop")

INTERVAL_S = 0.05
BLOCK_S = 0.1
"""Delay above which a block is logged."""
IDLE_STRETCH = 3
IDLE_MAX_S = 1.0
_IDLE_SHARE = 0.01
"""Share of an interval in which the loop's thread may run and still count as idle."""
_FOR_DEVELOPERS = frozenset({"cpu_ms", "task", "stack"})
_FRAMES_SHOWN = 4
Describe = Callable[[asyncio.Task[object]], dict[str, object]]
"""Returns fields for the log line about a task that blocks the loop. It is called from another thread."""


class LoopWatch:
    """Detector of a blocked event loop. It runs between `start` and `stop`, which are called on the loop."""

    for_developers = _FOR_DEVELOPERS
    """Fields that are logged at level debug only."""
    waiting_blocks = False
    """True: a task that waits without processor time (`time.sleep`, a request of another library) is a block too."""

    def __init__(self, describe: Describe, *, interval_s: float = INTERVAL_S, block_s: float = BLOCK_S) -> None:
        self._describe, self._interval_s, self._block_s = describe, interval_s, block_s
        self.delays = Durations((0.001, 0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0))
        self.pause_s = interval_s
        """Length of the current interval."""
        self._due = 0.0
        """Monotonic time at which the timer is due."""
        self._seen: tuple[float, dict[str, object]] = (0.0, {})
        """Time at which a late timer was due, and what the loop ran then."""
        self._process_s = self._thread_s = 0.0
        """Processor time that the process and the loop's thread had used at the last timer."""
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False
        self._woken = threading.Lock()
        """Held by the thread. Its release ends an interval."""

    def start(self) -> None:
        """Start to watch the running loop."""
        loop = asyncio.get_running_loop()
        self._begin_interval(loop, self._interval_s)
        self._woken.acquire()
        args = (loop, threading.get_ident())
        threading.Thread(target=self._run, args=args, name="loop watch", daemon=True).start()

    def stop(self) -> None:
        """Stop the timer and the thread."""
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        self._wake()

    def note_request(self) -> None:
        """Watch the loop closely again. Called on the loop, by the first request after an idle phase."""
        if self._timer is not None and not self._ended and self.pause_s > self._interval_s:
            self._timer.cancel()
            self._begin_interval(asyncio.get_running_loop(), self._interval_s)
            self._wake()

    def _begin_interval(self, loop: asyncio.AbstractEventLoop, pause_s: float) -> None:
        self._process_s, self._thread_s = time.process_time(), time.thread_time()
        self.pause_s, self._due = pause_s, monotonic() + pause_s
        self._timer = loop.call_later(pause_s, self._on_timer, loop)

    def _on_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        due, pause_s = self._due, self.pause_s
        delay_s = max(monotonic() - due, 0.0)
        at, seen = self._seen
        self.record(delay_s, min(time.process_time() - self._process_s, delay_s), seen if at == due else {})
        idle = time.thread_time() - self._thread_s < pause_s * _IDLE_SHARE
        self._begin_interval(loop, min(pause_s * IDLE_STRETCH, IDLE_MAX_S) if idle else self._interval_s)

    def _wake(self) -> None:
        if self._woken.locked():
            self._woken.release()

    def _run(self, loop: asyncio.AbstractEventLoop, ident: int) -> None:
        while not self._ended:
            # A wait for an event would take five times as much processor time.
            if self._woken.acquire(timeout=self.pause_s):
                continue
            due = self._due
            # Half of a block, because the block may be over at the next look.
            if monotonic() - due > self._block_s / 2 and self._seen[0] != due:
                self._seen = (due, self._look(loop, ident))

    def record(self, delay_s: float, cpu_s: float, seen: dict[str, object]) -> None:
        """Count a delay, and log it if it was a block.

        `cpu_s` is about the processor time of the process in the delay. Without it, the loop was not busy: other
        processes kept the machine busy, and the delay is logged for developers only (unless `waiting_blocks`).
        `seen` describes what the loop ran; developers see all of it.
        """
        self.delays.observe((), delay_s)
        if delay_s <= self._block_s:
            return
        shown = {"ms": round(delay_s * 1000), "cpu_ms": round(cpu_s * 1000), **seen}
        if not _log.isEnabledFor(logging.DEBUG):
            shown = {name: value for name, value in shown.items() if name not in self.for_developers}
        if cpu_s > self._block_s or (self.waiting_blocks and seen.get("task")):
            _log.warning("event loop blocked", extra=shown)
        else:
            _log.debug("event loop delayed by other processes or a slow call", extra=shown)

    def _look(self, loop: asyncio.AbstractEventLoop, ident: int) -> dict[str, object]:
        """Describe what the loop's thread runs, for the log."""
        task = asyncio.current_task(loop)
        frame = sys._current_frames().get(ident)
        stack = [] if frame is None else extract_stack(frame)[-_FRAMES_SHOWN:]
        shown: dict[str, object] = {"task": "" if task is None else task.get_name()}
        if task is not None:
            shown |= self._describe(task)
        shown["stack"] = " > ".join(f"{one.filename.rpartition('/sampan/')[2]}:{one.lineno}" for one in stack)
        return shown
