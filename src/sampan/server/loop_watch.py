"""`LoopWatch`: detects when the event loop is blocked, and logs the request that blocks it.

Concurrency: a thread schedules a callback on the loop every `INTERVAL_S` seconds. If the callback is late, the thread
inspects what the loop runs. When the callback has run, its delay is recorded. The block may be longer than the delay by
up to the interval, because the delay starts with the scheduling.

While the loop's thread uses nearly no processor time, each interval is `IDLE_STRETCH` times as long as the last one, up
to `IDLE_MAX_S`: each one costs the thread 0.06 ms. A callback wakes an idle loop, so only one of `IDLE_INTERVALS`
intervals schedules one. The first request after an idle phase ends a long interval (`note_request`), and the next
interval schedules a callback. So a block that ends an idle phase is detected soon if a request causes it. Another one
is detected up to `IDLE_MAX_S` after it began, or after `IDLE_INTERVALS` such intervals if it uses no processor time.
"""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable
from traceback import extract_stack

from prometheus_client.core import HistogramMetricFamily, Metric

from sampan.core.clock import monotonic
from sampan.core.durations import Durations
from sampan.server.histogram import cumulative
from sampan.server.request import Request

_log = logging.getLogger("sampan.loop")

INTERVAL_S = 0.05
BLOCK_S = 0.1
"""Delay above which a block is logged."""
IDLE_INTERVALS = 5
"""Intervals of an idle loop for one callback."""
IDLE_STRETCH = 3
IDLE_MAX_S = 1.0
_IDLE_SHARE = 0.01
"""Share of an interval in which the loop's thread may run and still count as idle."""
_FRAMES_SHOWN = 4
_NAME = "sampan_event_loop_delay_seconds"
RequestOf = Callable[[asyncio.Task[object]], Request | None]


class LoopWatch:
    """Detector of a blocked event loop, and the Prometheus collector of the delays. Runs between `start` (called on the
    loop) and `stop`.
    """

    def __init__(self, request_of: RequestOf, *, interval_s: float = INTERVAL_S, block_s: float = BLOCK_S) -> None:
        """`request_of` returns the request that a task serves, or None."""
        self._request_of, self._interval_s, self._block_s = request_of, interval_s, block_s
        self.delays = Durations((0.001, 0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0))
        self._ended = threading.Event()
        self._woken = threading.Lock()
        """Held by the thread. Its release ends an interval."""
        self.pause_s = interval_s
        """Length of the current interval."""
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start to watch the running loop."""
        loop, ident = asyncio.get_running_loop(), threading.get_ident()
        self._thread = threading.Thread(target=self._run, args=(loop, ident), name="loop watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._ended.set()
        self.note_request()

    def note_request(self) -> None:
        """Watch the loop closely again. Called on the loop, by the first request after an idle phase."""
        if self._woken.locked():
            self._woken.release()

    def _run(self, loop: asyncio.AbstractEventLoop, ident: int) -> None:
        is_idle = _IdleThread(ident)
        skipped = 0
        self._woken.acquire()
        while not self._ended.is_set():
            # A wait for an event would take five times as much processor time, also on an idle server.
            if self._woken.acquire(timeout=self.pause_s):
                self.pause_s, skipped = self._interval_s, IDLE_INTERVALS
                continue
            idle = is_idle(self.pause_s * _IDLE_SHARE)
            self.pause_s = min(self.pause_s * IDLE_STRETCH, IDLE_MAX_S) if idle else self._interval_s
            if skipped < IDLE_INTERVALS and idle:
                skipped += 1
                continue
            skipped = 0
            responded = threading.Event()
            began, cpu_began = monotonic(), time.process_time()
            try:
                loop.call_soon_threadsafe(responded.set)
            except RuntimeError:
                return  # the loop is closed
            seen: dict[str, object] = {}
            while not responded.wait(self._block_s):
                if self._ended.is_set():
                    return
                seen = seen or self._seen(loop, ident)
            self.record(monotonic() - began, time.process_time() - cpu_began, seen)

    def record(self, delay_s: float, cpu_s: float, seen: dict[str, object]) -> None:
        """Count a delay, and log it if it was a block.

        `cpu_s` is the processor time of the process in the delay. It is small if other processes kept the machine busy.
        `seen` describes what the loop ran.
        """
        self.delays.observe((), delay_s)
        if delay_s > self._block_s:
            shown = {"ms": round(delay_s * 1000), "cpu_ms": round(cpu_s * 1000), **seen}
            _log.warning("event loop blocked", extra=shown)

    def _seen(self, loop: asyncio.AbstractEventLoop, ident: int) -> dict[str, object]:
        """Describe what the loop's thread runs, for the log."""
        task = asyncio.current_task(loop)
        request = None if task is None else self._request_of(task)
        frame = sys._current_frames().get(ident)
        stack = [] if frame is None else extract_stack(frame)[-_FRAMES_SHOWN:]
        shown: dict[str, object] = {"task": "" if task is None else task.get_name()}
        if request is not None:
            shown |= {
                "method": request.wire.method,
                "path": request.wire.path,
                "user": "" if request.user is None else request.user.name,
                "body_bytes": max(request.body_size_bytes, 0),
                "audit_id": request.audit_id,
            }
        shown["stack"] = " > ".join(f"{one.filename.rpartition('/sampan/')[2]}:{one.lineno}" for one in stack)
        return shown

    def collect(self) -> Iterable[Metric]:
        """Return the histogram of delays."""
        series = self.delays.begin(())
        yield HistogramMetricFamily(
            _NAME,
            "Delay of a callback that is scheduled on the event loop every 50 ms.",
            buckets=cumulative(self.delays.buckets, series[1:]),
            sum_value=series[0],
        )


class _IdleThread:
    """Reports whether a thread has used nearly no processor time since the last call."""

    def __init__(self, ident: int) -> None:
        # Not on every system; without it, the thread never counts as idle.
        clock_of = getattr(time, "pthread_getcpuclockid", None)
        self._clock: int | None = None if clock_of is None else clock_of(ident)
        self._used_s = 0.0

    def __call__(self, limit_s: float) -> bool:
        if self._clock is None:
            return False
        before, self._used_s = self._used_s, time.clock_gettime(self._clock)
        return self._used_s - before < limit_s
