"""`ShutdownSignal`: request to stop the Pods of a node before its process ends."""

import asyncio


class ShutdownSignal:
    """Request and response. The process makes the request; `NodeShutdown` responds."""

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self._done = asyncio.Event()

    async def request(self, limit_s: float) -> None:
        """Request the end of the Pods. Returns when they have ended, or after a time limit."""
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
