"""Delays of failed items."""

import asyncio
from collections.abc import Hashable

import pytest

from sampan.operator.queue import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    RateLimiter,
    WithMaxWaitRateLimiter,
    default_rate_limiter,
)
from sampan.testing.time.virtual_time import virtual_time


def test_each_failure_doubles_the_waiting_up_to_the_longest() -> None:
    limiter = ItemExponentialFailureRateLimiter()
    waits = [limiter.when("a") for _ in range(2000)]
    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits[17:19] == [655.36, 1000.0]
    assert waits[-1] == 1000.0


def test_items_do_not_wait_for_one_another() -> None:
    limiter = ItemExponentialFailureRateLimiter(1, 60)
    limiter.when("a")
    assert limiter.when("b") == 1


def test_fast_attempts_come_before_slow_ones() -> None:
    limiter = ItemFastSlowRateLimiter(0.005, 10, 3)
    assert [limiter.when("a") for _ in range(5)] == [0.005, 0.005, 0.005, 10, 10]
    assert limiter.num_requeues("a") == 5
    limiter.forget("a")
    assert (limiter.when("a"), limiter.num_requeues("a")) == (0.005, 1)


@virtual_time
async def test_a_bucket_lets_a_burst_through_and_then_so_many_a_second() -> None:
    limiter = BucketRateLimiter(qps=10, burst=100)
    assert [limiter.when(number) for number in range(100)] == [0.0] * 100
    assert [limiter.when("x") for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    await asyncio.sleep(0.3)
    assert limiter.when("x") == pytest.approx(0.1)
    await asyncio.sleep(1000)
    assert [limiter.when(number) for number in range(101)][-2:] == pytest.approx([0.0, 0.1])


@virtual_time
async def test_the_longest_waiting_of_several_limiters_counts() -> None:
    limiter = MaxOfRateLimiter(ItemFastSlowRateLimiter(1, 5, 1), BucketRateLimiter(qps=0.5, burst=1))
    assert [limiter.when("a") for _ in range(4)] == pytest.approx([1, 5, 5, 6])
    assert limiter.num_requeues("a") == 4
    limiter.forget("a")
    assert limiter.num_requeues("a") == 0


def test_a_longest_wait_cuts_the_waiting_off() -> None:
    limiter = WithMaxWaitRateLimiter(ItemExponentialFailureRateLimiter(1, 1000), 5)
    assert [limiter.when("a") for _ in range(4)] == [1, 2, 4, 5]
    assert limiter.num_requeues("a") == 4


@virtual_time
async def test_the_default_is_both_per_item_and_overall() -> None:
    limiter = default_rate_limiter()
    assert [limiter.when(number) for number in range(100)] == [0.005] * 100
    assert [limiter.when(number) for number in range(100, 110)][-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "limiter",
    [ItemExponentialFailureRateLimiter(), ItemFastSlowRateLimiter(1, 2, 1), MaxOfRateLimiter()],
    ids=["exponential", "fast-slow", "max-of"],
)
def test_an_unknown_item_can_be_forgotten(limiter: RateLimiter[Hashable]) -> None:
    limiter.forget("a")
    assert limiter.num_requeues("a") == 0
