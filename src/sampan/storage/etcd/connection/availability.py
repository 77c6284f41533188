"""`Availability`: circuit breaker around the whole etcd cluster.

The circuit opens when a call has used all its attempts without a response, and no other call received one meanwhile. It
closes with the next response. While it is open calls fail at once, except for one probe at a time, which tries each
endpoint once.
"""

import logging
from collections.abc import Callable
from typing import Final

PROBE_PAUSE_S: Final = 0.1
"""Pause between the end of one probe and the start of the next."""
_log = logging.getLogger(__name__)


class Availability:
    """State shared by the calls of one client. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.circuit_open = False
        self.clock = clock
        self._responded_at = float("-inf")
        self._probing = False
        self._probe_at = float("-inf")

    def record_response(self) -> None:
        """Record a response that needed a quorum of etcd's members."""
        if self.circuit_open:
            _log.info("etcd is available again")
        self.circuit_open = False
        self._responded_at = self.clock()

    def failed(self, since: float) -> bool:
        """Record that a call started at `since` has used all its attempts. Return True if this opens the circuit."""
        if self.circuit_open or self._responded_at >= since:
            return False
        self.circuit_open = True
        return True

    def begin_probe(self) -> bool:
        """Return True if the caller is the next probe. The caller must then call `end_probe`."""
        if self._probing or self.clock() < self._probe_at:
            return False
        self._probing = True
        return True

    def end_probe(self) -> None:
        """Record the end of the probe, with or without a response."""
        self._probing = False
        self._probe_at = self.clock() + PROBE_PAUSE_S
