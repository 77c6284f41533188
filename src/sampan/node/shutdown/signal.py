"""`ShutdownSignal`: request of the process to end the Pods of its node, before the process ends."""

import asyncio


class ShutdownSignal:
    """Request and response. The process makes the request; `NodeShutdown` responds."""

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self._done = asyncio.Event()

    async def request(self, limit_s: float) -> None:
        """End the Pods. Returns when they have ended, or after a time."""
        self._requested.set()
        try:
            async with asyncio.timeout(limit_s):
                await self._done.wait()
        except TimeoutError:
            pass

    async def requested(self) -> None:
        """Wait for the request."""
        await self._requested.wait()

    def finish(self) -> None:
        """Report that the Pods have ended."""
        self._done.set()
