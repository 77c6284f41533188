"""The work queue and its rate limiters: the order of keys, and the delays of failed ones."""

from sampan.operator.queue.causes import (
    CAUSES_MAX,
    NO_CAUSES,
    ON_REQUEST,
    REQUEUE_AFTER,
    RETRY,
    Cause,
    CauseOrigin,
    Causes,
)
from sampan.operator.queue.metrics import QueueMetrics, WorkQueueMetrics
from sampan.operator.queue.rate_limiters import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    RateLimiter,
    WithMaxWaitRateLimiter,
    default_rate_limiter,
)
from sampan.operator.queue.work_queue import LOW_PRIORITY, QueueItem, QueueShutDown, WorkQueue

__all__ = [
    "CAUSES_MAX",
    "LOW_PRIORITY",
    "NO_CAUSES",
    "ON_REQUEST",
    "REQUEUE_AFTER",
    "RETRY",
    "BucketRateLimiter",
    "Cause",
    "CauseOrigin",
    "Causes",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "QueueItem",
    "QueueMetrics",
    "QueueShutDown",
    "RateLimiter",
    "WithMaxWaitRateLimiter",
    "WorkQueue",
    "WorkQueueMetrics",
    "default_rate_limiter",
]
