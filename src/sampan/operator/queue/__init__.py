"""The work queue and its rate limiters: the order of keys, and the delays of failed ones."""

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
from sampan.operator.queue.work_queue import LOW_PRIORITY, QueueShutDown, WorkQueue

__all__ = [
    "LOW_PRIORITY",
    "BucketRateLimiter",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "MaxOfRateLimiter",
    "QueueMetrics",
    "QueueShutDown",
    "RateLimiter",
    "WithMaxWaitRateLimiter",
    "WorkQueue",
    "WorkQueueMetrics",
    "default_rate_limiter",
]
