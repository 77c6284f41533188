"""Every ten seconds the levels lend each other the seats that they do not need.

Source: apiserver pkg/util/flowcontrol/apf_controller.go updateBorrowingLocked (1.36).
"""

import logging
from collections.abc import Collection
from typing import Final

from sampan.server.flow_control.allocation import Wish, allocate
from sampan.server.flow_control.priority_level import PriorityLevel

_log = logging.getLogger(__name__)

ADJUSTMENT_PERIOD_S: Final = 10.0


def rebalance(levels: Collection[PriorityLevel]) -> float:
    """Give each level its seats by what it has asked for since the last time. Gives the fair proportion."""
    total = remaining = sum(level.nominal for level in levels)
    limited: list[PriorityLevel] = []
    for level in levels:
        level.demand.update(level.queue_set.demand.take())
        if level.exempt:
            seats = max(level.lower, level.demand.high_watermark)
            remaining -= seats
            level.limit(seats)
        else:
            limited.append(level)
    wishes = [_wish(level) for level in limited]
    for level, wish in zip(limited, wishes, strict=True):
        level.target = wish.target
    lower = sum(level.lower for level in limited)
    wanted = sum(int(wish.lower) for wish in wishes)
    if remaining <= lower:
        shares, fair = [float(level.lower) for level in limited], 0.0
    elif remaining <= wanted:
        fraction = (remaining - lower) / (wanted - lower)
        pairs = zip(limited, wishes, strict=True)
        shares, fair = [level.lower + (wish.lower - level.lower) * fraction for level, wish in pairs], 0.0
    else:
        shares, fair = _allocated(total, limited, wishes)
    for level, share in zip(limited, shares, strict=True):
        level.limit(round(share))
    return fair


def _wish(level: PriorityLevel) -> Wish:
    """It gets back what it has lent as soon as it has asked for it."""
    lower = float(max(level.lower, min(level.nominal, level.demand.high_watermark)))
    return Wish(max(lower, level.demand.smoothed), lower, float(level.upper))


def _allocated(total: int, levels: list[PriorityLevel], wishes: list[Wish]) -> tuple[list[float], float]:
    try:
        return allocate(total, wishes)
    except ValueError as error:
        _log.warning("seats are not shared anew", extra={"error": str(error)})
        return [float(level.current) for level in levels], 0.0
