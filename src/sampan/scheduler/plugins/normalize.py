"""Normalization of scores to the range from 0 to 100.

Source: pkg/scheduler/framework/plugins/helper/normalize_score.go (1.36).
"""

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE


def normalized(scores: Ints, feasible: Mask, *, reverse: bool = False) -> Ints | None:
    """Return scores relative to the highest feasible row; None if all are zero."""
    highest = int(scores[feasible].max(initial=0))
    if highest == 0:
        return None
    parts = MAX_NODE_SCORE * scores // highest
    return MAX_NODE_SCORE - parts if reverse else parts


def full(size: int) -> Ints:
    """Return the highest score for all rows."""
    return np.full(size, MAX_NODE_SCORE, dtype=np.int64)
