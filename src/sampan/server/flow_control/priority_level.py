"""`PriorityLevel`: seats and queues of one level.

Source: apiserver pkg/util/flowcontrol/apf_controller.go priorityLevelState (1.36).
"""

import math
from collections.abc import Callable
from typing import Final

from sampan.core.object import Object
from sampan.server.flow_control.queues.demand import DemandStats
from sampan.server.flow_control.queues.queue_set import EXEMPT, REJECT, Later, QueueSet, Queuing

_SEATS_PERCENT_MAX: Final = 0.15
"""Maximum part of a level's seats that one request may hold."""


class PriorityLevel:
    """Priority level. Limits are in seats. If a level is `undesired`, its object is deleted, and the level is removed
    when it is idle.
    """

    def __init__(self, obj: Object, clock: Callable[[], float], later: Later) -> None:
        self.demand = DemandStats()
        self.undesired = False
        self.nominal = self.lower = self.upper = self.current = 0
        self.target = 0.0
        self.seats_max = 0
        """Maximum number of seats for one request; 0 for the default of the request's kind."""
        self._new = True
        self.take(obj)
        self.queue_set = QueueSet(self.queuing, 0, clock, later)

    def take(self, obj: Object) -> None:
        """Read the settings of an object. They take effect with `share` and `limit`."""
        metadata, spec = obj["metadata"], obj["spec"]
        self.name: str = metadata["name"]
        self.uid: str = metadata.get("uid", "")
        self.exempt = spec.get("type") == "Exempt"
        part = spec.get("exempt" if self.exempt else "limited") or {}
        self.shares: int = part.get("nominalConcurrencyShares") or 0
        self.lendable_percent: int = part.get("lendablePercent") or 0
        self.borrowing_percent: int | None = part.get("borrowingLimitPercent")
        self.queuing = EXEMPT if self.exempt else _queuing(part.get("limitResponse") or {})
        self.undesired = False

    def share(self, seats: int, share_sum: float) -> None:
        """Compute the limits from the `seats` of the server and the sum of the shares of all levels."""
        self.nominal = math.ceil(seats * self.shares / share_sum) if share_sum else 0
        lendable = round(self.nominal * self.lendable_percent / 100)
        percent = self.borrowing_percent
        borrowing = seats if percent is None or self.exempt else round(self.nominal * percent / 100)
        self.lower, self.upper = self.nominal - lendable, self.nominal + borrowing
        hand = self.queuing.hand_size
        if hand:
            self.seats_max = max(1, min(math.ceil(self.nominal * _SEATS_PERCENT_MAX), self.nominal // hand))
        if self._new:
            self._new = False
            self.current = self.nominal - lendable // 2
        self.queue_set.seats_measured = max(1, int(seats / 10 + 0.5))

    def limit(self, seats: int) -> None:
        """Set the number of seats."""
        self.current = seats
        self.queue_set.configure(self.queuing, seats)


def _queuing(response: Object) -> Queuing:
    queuing = response.get("queuing")
    if response.get("type") != "Queue" or not queuing:
        return REJECT
    queues, hand = queuing.get("queues", 0), queuing.get("handSize", 0)
    return Queuing(queues, min(hand, queues), queuing.get("queueLengthLimit", 0))
