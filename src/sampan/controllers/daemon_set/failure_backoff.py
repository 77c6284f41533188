"""`FailureBackoff`: exponential backoff for replacing Pods that keep failing on a Node.

A kubelet that rejects a Pod does so immediately. Without backoff, the loop and the kubelet would create and reject
Pods at full speed.
Source: client-go util/flowcontrol/backoff.go; pkg/controller/daemon/config (1.36).
"""

from collections.abc import Hashable
from typing import Final

INITIAL_S: Final = 1.0
MAX_S: Final = 15 * 60.0
_FORGET_S: Final = 2 * MAX_S


class FailureBackoff:
    """Backoff by key, doubled with each replacement. Times are seconds of any clock.

    Keys without a replacement for half an hour are dropped, which bounds the memory.
    """

    def __init__(self) -> None:
        self._waits: dict[Hashable, tuple[float, float]] = {}

    def left_s(self, key: Hashable, now: float) -> float:
        """Return the seconds until the next replacement is allowed; 0 if it is allowed now."""
        wait_s, since = self._waits.get(key, (0.0, now))
        return max(0.0, since + wait_s - now)

    def replaced(self, key: Hashable, now: float) -> None:
        """Record a replacement, which doubles the next wait."""
        for old in [other for other, (_, since) in self._waits.items() if now - since > _FORGET_S]:
            del self._waits[old]
        wait_s, _ = self._waits.get(key, (0.0, now))
        self._waits[key] = (min(2 * wait_s, MAX_S) if wait_s else INITIAL_S, now)
