"""Scores of any range become scores of 0 to 100.

Source: pkg/scheduler/framework/plugins/helper/normalize_score.go (1.36).
"""

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Mask
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE


def normalized(scores: Ints, feasible: Mask, *, reverse: bool = False) -> Ints | None:
    """Scores relative to the highest of the feasible rows; None when all are alike."""
    highest = int(scores[feasible].max(initial=0))
    if highest == 0:
        return None
    parts = MAX_NODE_SCORE * scores // highest
    return MAX_NODE_SCORE - parts if reverse else parts


def full(size: int) -> Ints:
    """The highest score for all."""
    return np.full(size, MAX_NODE_SCORE, dtype=np.int64)
