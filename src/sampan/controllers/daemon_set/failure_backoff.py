"""`FailureBackoff`: Pods that fail again and again on a Node are replaced less and less often.

A kubelet that rejects a Pod does so at once; without this the loop and the kubelet would fight at full speed.
Source: client-go util/flowcontrol/backoff.go; pkg/controller/daemon/config (1.36).
"""

from collections.abc import Hashable
from typing import Final

INITIAL_S: Final = 1.0
MAX_S: Final = 15 * 60.0
_FORGET_S: Final = 2 * MAX_S


class FailureBackoff:
    """How long to wait after the last replacement, by key: twice as long each time. Times are seconds of any clock.

    What has been quiet for half an hour is forgotten, which bounds the memory.
    """

    def __init__(self) -> None:
        self._waits: dict[Hashable, tuple[float, float]] = {}

    def left_s(self, key: Hashable, now: float) -> float:
        """The seconds until the next replacement may be; 0 if it may be now."""
        wait_s, since = self._waits.get(key, (0.0, now))
        return max(0.0, since + wait_s - now)

    def replaced(self, key: Hashable, now: float) -> None:
        """A replacement has been made: the next one waits longer."""
        for old in [other for other, (_, since) in self._waits.items() if now - since > _FORGET_S]:
            del self._waits[old]
        wait_s, _ = self._waits.get(key, (0.0, now))
        self._waits[key] = (min(2 * wait_s, MAX_S) if wait_s else INITIAL_S, now)
