"""`Reach`: whether etcd as a whole is known to be away, so that nobody waits for what will not come.

etcd is away from when a call has tried all its time in vain, and no other call got an answer meanwhile, until something
is answered again. Then calls fail at once, but for one at a time: that one is the probe, and asks each endpoint once.
"""

from collections.abc import Callable
from typing import Final

PROBE_PAUSE_S: Final = 0.1
"""Between the end of one probe and the next."""


class Reach:
    """What the calls of one client tell each other. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.away = False
        self.clock = clock
        self._answered_at = float("-inf")
        self._probing = False
        self._probe_at = float("-inf")

    def answered(self) -> None:
        """etcd has answered what it cannot know without a majority."""
        self.away = False
        self._answered_at = self.clock()

    def failed(self, since: float) -> bool:
        """A call that began at `since` has tried all its time in vain.

        Whether that says that etcd is away, which was not known before.
        """
        if self.away or self._answered_at >= since:
            return False
        self.away = True
        return True

    def begin_probe(self) -> bool:
        """Whether the caller, while etcd is away, is the one that finds out; it then has to call `end_probe`."""
        if self._probing or self.clock() < self._probe_at:
            return False
        self._probing = True
        return True

    def end_probe(self) -> None:
        """The probe has found out, or given up."""
        self._probing = False
        self._probe_at = self.clock() + PROBE_PAUSE_S
