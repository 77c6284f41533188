"""Delays after failures that the reconciler, or the server's `Retry-After`, requests."""

import asyncio
import math

import pytest

from sampan.client.errors import ApiError, api_error
from sampan.operator.failures.failed_events import EVENT_FAILED, EventFailure, FailedEvents
from sampan.operator.failures.requested_delay import RETRY_AFTER_S_MAX, add_failed
from sampan.operator.queue import ItemExponentialFailureRateLimiter, WorkQueue
from sampan.operator.request import RetryLater
from sampan.testing.time.virtual_time import virtual_time


def refusal(seconds: object, code: int = 429) -> ApiError:
    return api_error({"code": code, "message": "later", "details": {"retryAfterSeconds": seconds}})


def explained(error: Exception) -> RetryLater:
    later = RetryLater("the server is busy")
    later.__cause__ = error
    return later


class Unlucky(RetryLater):
    """A subclass that does not call the constructor of its base."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@pytest.mark.parametrize(
    ("error", "delay_s"),
    [
        (RetryLater("a", after_s=30), 30),
        (RetryLater("a", after_s=0.5), 0.5),
        (RetryLater("a"), 1),
        (Unlucky("a"), 1),
        (refusal(20), 20),
        (refusal(20, 503), 20),
        (refusal(0), 1),
        (refusal("20"), 1),
        (refusal(None), 1),
        (refusal(10**9), RETRY_AFTER_S_MAX),
        (explained(refusal(20)), 20),
        (ExceptionGroup("", [ValueError(), ExceptionGroup("", [refusal(7), refusal(9)])]), 9),
        (ExceptionGroup("", [RetryLater("a", after_s=3), RetryLater("b", after_s=4)]), 4),
        (ExceptionGroup("", [RetryLater("a", after_s=3), ValueError()]), 1),
        (ValueError(), 1),
    ],
    ids=lambda value: repr(value)[:40],
)
@virtual_time
async def test_a_failure_is_retried_after_the_requested_delay(error: Exception, delay_s: float) -> None:
    queue: WorkQueue[str] = WorkQueue(rate_limiter=ItemExponentialFailureRateLimiter(1, 60))
    assert add_failed(queue, "a", error) == delay_s
    begin = asyncio.get_running_loop().time()
    await queue.get()
    assert asyncio.get_running_loop().time() - begin == pytest.approx(delay_s)


@virtual_time
async def test_the_backoff_grows_while_the_server_requests_less() -> None:
    queue: WorkQueue[str] = WorkQueue(rate_limiter=ItemExponentialFailureRateLimiter(1, 60))
    assert [add_failed(queue, "a", refusal(3)) for _ in range(4)] == [3, 3, 4, 8]


@virtual_time
async def test_a_change_ends_the_delay() -> None:
    queue: WorkQueue[str] = WorkQueue()
    add_failed(queue, "a", RetryLater("a", after_s=3600))
    queue.add("a")
    async with asyncio.timeout(1):
        assert await queue.get() == "a"


@virtual_time
async def test_a_queue_that_shuts_down_reports_no_delay() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.shut_down()
    assert add_failed(queue, "a", RetryLater("a", after_s=3)) is None


@virtual_time
async def test_a_map_function_may_request_a_delay() -> None:
    failures: list[EventFailure] = []
    EVENT_FAILED.set(failures.append)
    events: FailedEvents[str] = FailedEvents("boats", "pods")

    def fail() -> None:
        raise RetryLater("the crew is asleep", after_s=45)

    events.attempt("a", fail)
    assert [failure.retry_s for failure in failures] == [45]


@pytest.mark.parametrize("after_s", [0, -1, math.nan])
def test_a_delay_that_is_not_positive_is_refused(after_s: float) -> None:
    with pytest.raises(ValueError, match="after_s must be positive"):
        RetryLater("a", after_s=after_s)
