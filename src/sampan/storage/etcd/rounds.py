"""`Rounds`: writes that are under way at the same time are acknowledged together.

An engine on this machine commits many writes at once, and so their answers, and the clients' next requests, are taken
in one turn of the event loop. etcd answers one write after another; a turn for each of them costs as much as the write.

Concurrency: none of its own; everybody waits in their own task.
"""

import asyncio
from collections.abc import Awaitable

from sampan.storage.signal import Signal
from sampan.storage.store import Revision

WAIT_MAX_S = 0.008
"""How long a write that is done waits for others that are not."""


class Rounds:
    """One for each store. A write that is alone is acknowledged as soon as it is done."""

    def __init__(self) -> None:
        self._under_way = 0
        self._over = Signal()
        self._timer: asyncio.TimerHandle | None = None

    async def acknowledged(self, write: Awaitable[Revision]) -> Revision:
        """The write's revision, once all others that are under way are done too, or after `WAIT_MAX_S`.

        Raises what the write raises, at once.
        """
        self._under_way += 1
        try:
            revision = await write
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._end()
        if self._under_way:
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(WAIT_MAX_S, self._end)
            await self._over.wait()
        return revision

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._over.notify()
