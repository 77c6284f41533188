"""`AckBatch`: acknowledges concurrent writes together.

etcd returns the results of writes one after another. If each were acknowledged separately, each would cost three
iterations of the event loop: for the response, its event, and the client's next request. These iterations cost more
than the call itself.

Concurrency: no tasks; each writer waits in its own task.
"""

from collections.abc import Awaitable

from sampan.storage.signal import Signal
from sampan.storage.store import Revision

WAIT_MAX_S = 0.008
"""Longest time that a finished write waits for concurrent writes."""


class AckBatch:
    """Batch of one store's writes. A write without concurrent writes is acknowledged as soon as it is done."""

    def __init__(self) -> None:
        self._running = 0
        self._over = Signal()

    async def acknowledged(self, write: Awaitable[Revision]) -> Revision:
        """Return the write's revision when all concurrent writes are done, or after `WAIT_MAX_S`.

        If the write fails, its error is raised at once.
        """
        self._running += 1
        try:
            revision = await write
        finally:
            self._running -= 1
            if not self._running:
                self._over.notify()
        if self._running and not await self._over.wait(WAIT_MAX_S):
            self._over.notify()  # the first write of the batch has waited long enough: acknowledge all of it
        return revision
