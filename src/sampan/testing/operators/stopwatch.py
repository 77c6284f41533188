"""`Stopwatch`: how long code keeps the event loop, without the time in which the machine did something else.

On a busy machine a thread waits for a processor, and Python's garbage collector may run in any step. Both are not the
code's fault, so their time is subtracted.
"""

import gc
import resource
from time import perf_counter, thread_time
from typing import Any, Final

BLOCKED_S: Final = 0.1
"""Longest time for which the operator's code may keep the event loop without an await, in real seconds."""
_FRESH_S: Final = 0.02
"""Age of the figures of the thread up to which they are not read again: they take 20 µs."""
_PLACE: Final = "/proc/thread-self/schedstat"


class _Collector:
    """Time in Python's garbage collector, in seconds."""

    def __init__(self) -> None:
        self.total_s = 0.0
        self._began = 0.0

    def __call__(self, phase: str, _: dict[str, Any]) -> None:
        if phase == "start":
            self._began = perf_counter()
        else:
            self.total_s += perf_counter() - self._began


class Stopwatch:
    """Measures steps of one thread, which may be nested.

    The garbage collector is timed only during steps: an exception that another thread sends (`core.event_loop.offload`)
    is lost if it arrives in a callback of the collector.
    """

    def __init__(self) -> None:
        self._read_at = float("-inf")
        self._busy = (0.0, 0.0)
        self._collector = _Collector()
        self._depth = 0

    def begin(self) -> float:
        """Return the start of a step, for `end`."""
        self._depth += 1
        if self._depth == 1:
            gc.callbacks.append(self._collector)
        now = perf_counter()
        if now - self._read_at > _FRESH_S:
            self._read_at, self._busy = now, self._elsewhere()
        return now

    def end(self, began: float) -> float:
        """Return the seconds for which a step blocked the event loop; 0.0 if less than `BLOCKED_S`."""
        passed_s = perf_counter() - began
        self._depth -= 1
        if not self._depth:
            gc.callbacks.remove(self._collector)
        if passed_s < BLOCKED_S:
            return 0.0
        before, now = self._busy, self._elsewhere()
        self._read_at = float("-inf")
        if now[0] < 0:
            # Without the figures of Linux: the thread has worked, or has waited for something that it wanted.
            return passed_s if thread_time() - before[1] >= BLOCKED_S or now[0] < before[0] else 0.0
        own_s = passed_s - (now[0] - before[0]) - (now[1] - before[1])
        return own_s if own_s >= BLOCKED_S else 0.0

    def _elsewhere(self) -> tuple[float, float]:
        """Return the seconds that the thread waited for a processor, and those of the garbage collector."""
        try:
            with open(_PLACE, "rb", buffering=0) as file:
                return int(file.read(64).split()[1]) / 1e9, self._collector.total_s
        except (OSError, ValueError, IndexError):
            return -1.0 - resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw, thread_time()


STOPWATCH: Final = Stopwatch()
