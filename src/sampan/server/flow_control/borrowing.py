"""Borrowing of seats: every ten seconds, the levels lend their unused seats to other levels.

Source: apiserver pkg/util/flowcontrol/apf_controller.go updateBorrowingLocked (1.36).
"""

import logging
from collections.abc import Collection
from typing import Final

from sampan.server.flow_control.allocation import AllocationItem, allocate
from sampan.server.flow_control.priority_level import PriorityLevel

_log = logging.getLogger(__name__)

ADJUSTMENT_PERIOD_S: Final = 10.0


def rebalance(levels: Collection[PriorityLevel]) -> float:
    """Set the seats of each level from its demand since the last call. Return the fair proportion."""
    total = remaining = sum(level.nominal for level in levels)
    limited: list[PriorityLevel] = []
    for level in levels:
        level.demand.update(level.queue_set.take_demand())
        if level.exempt:
            seats = max(level.lower, level.demand.high_watermark)
            remaining -= seats
            level.limit(seats)
        else:
            limited.append(level)
    items = [_item(level) for level in limited]
    for level, item in zip(limited, items, strict=True):
        level.target = item.target
    lower = sum(level.lower for level in limited)
    desired = sum(int(item.lower) for item in items)
    if remaining <= lower:
        shares, fair = [float(level.lower) for level in limited], 0.0
    elif remaining <= desired:
        fraction = (remaining - lower) / (desired - lower)
        pairs = zip(limited, items, strict=True)
        shares, fair = [level.lower + (item.lower - level.lower) * fraction for level, item in pairs], 0.0
    else:
        shares, fair = _allocated(total, limited, items)
    for level, share in zip(limited, shares, strict=True):
        level.limit(round(share))
    return fair


def _item(level: PriorityLevel) -> AllocationItem:
    """Return the bounds of a level for the allocation of seats. A level gets back the seats that it lent as soon as it
    needs them.
    """
    lower = float(max(level.lower, min(level.nominal, level.demand.high_watermark)))
    return AllocationItem(max(lower, level.demand.smoothed), lower, float(level.upper))


def _allocated(total: int, levels: list[PriorityLevel], items: list[AllocationItem]) -> tuple[list[float], float]:
    try:
        return allocate(total, items)
    except ValueError as error:
        _log.warning("cannot reallocate seats; keeping the old allocation", extra={"error": str(error)})
        return [float(level.current) for level in levels], 0.0
