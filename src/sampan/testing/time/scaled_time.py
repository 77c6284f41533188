"""Scaled time: an event loop whose clock runs faster than real time while it waits, and stands still while it works.

A day at scale 3600 takes 24 s and the time for its work: within a minute, an operator shows what it does in a day.
Clients in other processes live in real time. After a message from them, the clock has real speed until they have been
silent for a moment. Time-outs of their connections and watches are those of the loop's clock.
"""

import datetime as dt
import selectors
from time import perf_counter
from typing import Any, Final

from sampan.core.clock import utc_now
from sampan.testing.time.virtual_time import JumpingSelector, VirtualTimeLoop, running_loop

SILENCE_S: Final = 0.2
"""Real seconds after a message from another process in which the clock is not faster than real time."""
_LOOK_S: Final = 0.1
"""Longest real wait without a look at the clock."""


class _ScaledSelector(JumpingSelector):
    """Selector that waits, and adds the scaled time of the wait to the loop's clock."""

    def __init__(self, real: selectors.BaseSelector, scale: float) -> None:
        super().__init__(real)
        self._scale = scale
        self._self_pipe: Any = None
        self._message_at_s = -SILENCE_S

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        # The loop registers its own pipe first; it wakes the loop for threads and signals.
        self._self_pipe = self._self_pipe or fileobj
        return super().register(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return self._noted(super().select(timeout))

    def advance(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        began_s = perf_counter()
        quiet = began_s - self._message_at_s >= SILENCE_S
        scale = self._scale if quiet else 1.0
        longest_s = _LOOK_S if quiet else SILENCE_S - (began_s - self._message_at_s)
        ready = self.real.select(longest_s if timeout is None else min(longest_s, timeout / scale))
        passed_s = (perf_counter() - began_s) * scale
        self.elapsed_s += passed_s if timeout is None else min(passed_s, timeout)
        return ready

    def _noted(self, ready: list[tuple[selectors.SelectorKey, int]]) -> list[tuple[selectors.SelectorKey, int]]:
        """Note the time of a message."""
        if any(key.fileobj is not self._self_pipe for key, _ in ready):
            self._message_at_s = perf_counter()
        return ready


class ScaledTimeLoop(VirtualTimeLoop, running=running_loop):
    """An event loop whose clock runs `scale` times as fast as real time while it waits. It starts at the real time."""

    def __init__(self, scale: float, start: dt.datetime | None = None) -> None:
        super().__init__(start or utc_now(), _ScaledSelector(selectors.DefaultSelector(), scale))
