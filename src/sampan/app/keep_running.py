"""`keep_running`: restarts a background loop of the server when it fails, so that the server keeps running.

The store may be unavailable, or a client may have written unexpected data. The loops are level-based: they read the
current state, not the changes. So a restarted loop continues where it stopped.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from sampan.storage.store import OutcomeUnknown, StoreFull, StoreUnreachable, Untransformable

T = TypeVar("T")

_log = logging.getLogger("sampan.app")

PAUSE_S: Final = 1.0
PAUSE_MAX_S: Final = 30.0
START_TIMEOUT_S: Final = 60.0


async def keep_running(name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Await `run()`, and call it again after a pause if it fails. The pause grows while it fails soon after its start.

    Returns when `run` returns; ends by cancellation.
    """
    loop = asyncio.get_running_loop()
    pause_s = PAUSE_S
    while True:
        began = loop.time()
        try:
            await run()
        except Exception as error:
            if loop.time() - began >= PAUSE_MAX_S:
                pause_s = PAUSE_S
            unexpected = not isinstance(error, Untransformable)
            _log.error("%s failed; restarting in %.0f s: %s", name, pause_s, error, exc_info=unexpected)
        else:
            return
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, PAUSE_MAX_S)


async def until_done(name: str, step: Callable[[], Awaitable[T]], timeout_s: float = START_TIMEOUT_S) -> T:
    """Await `step()` of a start and return its result. Retry while the store is unavailable or full.

    Raises the errors of `step`: at once, or the last one after `timeout_s`.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    while True:
        try:
            return await step()
        except Exception as error:
            if not _is_absence(error) or loop.time() >= deadline:
                raise
            _log.warning("%s failed; retrying in %.0f s: %s", name, PAUSE_S, error)
        await asyncio.sleep(PAUSE_S)


def _is_absence(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_absence, error.exceptions))
    return isinstance(error, (StoreUnreachable, StoreFull, OutcomeUnknown))
