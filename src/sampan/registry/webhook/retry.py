"""Ask a webhook again while what is wrong with it may pass.

Source: apiserver pkg/util/webhook/webhook.go DefaultShouldRetry, WithExponentialBackoff (1.36).
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar

from sampan.registry.webhook.answer import WebhookError

TRIES: Final = 5
FIRST_WAIT_S: Final = 0.5
FACTOR: Final = 1.5
JITTER: Final = 0.2

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]


def growing_waits(first_wait_s: float) -> Iterator[float]:
    """The seconds between `TRIES` tries, each up to a fifth longer than it has to be."""
    for number in range(TRIES - 1):
        yield first_wait_s * FACTOR**number * random.uniform(1, 1 + JITTER)


async def ask_patiently(
    ask: Callable[[], Awaitable[T]], *, first_wait_s: float = FIRST_WAIT_S, sleep: Sleep = asyncio.sleep
) -> T:
    """What `ask` gives, after up to `TRIES` tries. Raises `WebhookError`: the last one. Cancelled, it asks no more."""
    for wait_s in growing_waits(first_wait_s):
        try:
            return await ask()
        except WebhookError as error:
            if not error.may_pass:
                raise
        await sleep(wait_s)
    return await ask()
