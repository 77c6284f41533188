"""`keep_running`: a loop of the server's own ends neither itself nor the server when something fails.

The store may be away, or late; a client may have written what nobody expected. The loops look at what is there, not at
what has changed: begun again, they go on where they were.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

_log = logging.getLogger("sampan.app")

PAUSE_S: Final = 1.0
PAUSE_MAX_S: Final = 30.0


async def keep_running(name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Await `run()`, again after a growing pause when it fails. Returns when it returns; ends by cancellation."""
    pause_s = PAUSE_S
    while True:
        try:
            await run()
        except Exception:
            _log.exception("%s failed; it is begun again in %.0f s", name, pause_s)
        else:
            return
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, PAUSE_MAX_S)
