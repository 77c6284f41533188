"""`retry_on_conflict`: repeat a read, change and write until no other client has written in between.

    async def close() -> Network:
        network = await networks.get("net")
        network.spec.open = False
        return await networks.update(network)

    await retry_on_conflict(close)

Source: client-go util/retry/util.go (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from sampan.client.errors import Conflict
from sampan.client.retries.backoff import Backoff

R = TypeVar("R")

CONFLICT_BACKOFF: Final = Backoff(0.010, factor=1.0, jitter=0.1, steps=5)
"""Backoff for several clients that change the same object."""

SLOW_CONFLICT_BACKOFF: Final = Backoff(0.010, factor=5.0, jitter=0.1, steps=4)
"""Backoff for an object that controllers change at the same time; they need longer."""


async def retry_on_conflict(attempt: Callable[[], Awaitable[R]], *, backoff: Backoff = CONFLICT_BACKOFF) -> R:
    """Call `attempt`, again after each `Conflict`, and return its result. It must read the object in each call.

    Raises any other error of `attempt`, or the last `Conflict` if no attempt is left.
    """
    return await retry_on(Conflict, attempt, backoff=backoff)


async def retry_on(
    errors: type[Exception] | tuple[type[Exception], ...],
    attempt: Callable[[], Awaitable[R]],
    *,
    backoff: Backoff = CONFLICT_BACKOFF,
) -> R:
    """Retry as `retry_on_conflict` does, after other errors."""
    delays = backoff.delays()
    while True:
        try:
            return await attempt()
        except errors:
            delay = next(delays, None)
            if delay is None:
                raise
        await asyncio.sleep(delay)
