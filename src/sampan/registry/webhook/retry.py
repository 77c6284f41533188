"""Retries of webhook requests with exponential backoff.

Source: apiserver pkg/util/webhook/webhook.go DefaultShouldRetry, WithExponentialBackoff (1.36).
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar

from sampan.registry.webhook.response import WebhookError

TRIES: Final = 5
FIRST_WAIT_S: Final = 0.5
FACTOR: Final = 1.5
JITTER: Final = 0.2

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


def backoff_delays_s(first_wait_s: float) -> Iterator[float]:
    """Yield the delays in seconds between `TRIES` attempts, with up to 20 % jitter."""
    for number in range(TRIES - 1):
        yield first_wait_s * FACTOR**number * random.uniform(1, 1 + JITTER)


async def with_retries(
    send: Callable[[], Awaitable[T]], *, first_wait_s: float = FIRST_WAIT_S, sleep: Sleep = asyncio.sleep
) -> T:
    """Return the result of `send` after at most `TRIES` attempts. Raises the last `WebhookError`."""
    for wait_s in backoff_delays_s(first_wait_s):
        try:
            return await send()
        except WebhookError as error:
            if not error.may_pass:
                raise
        await sleep(wait_s)
    return await send()
