"""`sample_cpu`: samples the stacks of the threads of this process.

A separate thread reads all stacks a hundred times a second, and the CPU time of each thread since the last sample.
Waiting threads are not counted. Threads that compute outside of Python's lock count too. CPU times come from /proc on
Linux. Without them every stack counts for the whole interval.
"""

import sys
import threading
import time
from pathlib import Path

from sampan.core.clock import unix_time_ns
from sampan.http.pprof.profile import Profile, stack_of

INTERVAL_S = 0.01
_NS = 1_000_000_000


def sample_cpu(seconds: float, stop: threading.Event) -> Profile:
    """Sample for `seconds`, or until `stop` is set. Blocks, so run it in a thread."""
    period_ns = int(INTERVAL_S * _NS)
    profile = Profile((("samples", "count"), ("cpu", "nanoseconds")), period_ns, time_ns=unix_time_ns())
    began = time.monotonic_ns()
    own = threading.get_ident()
    clocks = _run_times()
    while not stop.wait(INTERVAL_S) and time.monotonic_ns() - began < seconds * _NS:
        now = _run_times()
        for thread, frame in sys._current_frames().items():
            ran_ns = now.get(thread, 0) - clocks.get(thread, 0) if now else period_ns
            if thread != own and ran_ns > 0:
                profile.add(stack_of(frame), 1, ran_ns)
        clocks = now
    profile.duration_ns = time.monotonic_ns() - began
    return profile


def _run_times() -> dict[int, int]:
    """Return the CPU time of each thread in ns by its identifier. Return nothing if the system does not provide it."""
    times = {}
    for thread in threading.enumerate():
        if thread.ident is None:
            continue
        try:
            text = Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text()
            times[thread.ident] = int(text.split()[0])
        except (OSError, ValueError, IndexError):
            continue
    return times
