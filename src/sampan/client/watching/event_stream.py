"""`EventStream`: one watch, read in batches, with a deadline for each batch."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from sampan.client.watching.list_watch import RawEvent


class EventStream:
    """Watch with push-back: a reader can return events of a batch for the next reader."""

    def __init__(self, batches: AsyncIterator[Sequence[RawEvent]]) -> None:
        self._batches = batches
        self._rest: Sequence[RawEvent] = ()

    async def next(self, until: float) -> Sequence[RawEvent] | None:
        """Return the next batch; None at the end. `until` is a time of the event loop's clock.

        Raises `TimeoutError` if no event arrives before `until`; the stream is then unusable. Raises `ApiError`,
        `TransportError`.
        """
        if self._rest:
            rest, self._rest = self._rest, ()
            return rest
        try:
            async with asyncio.timeout_at(until):
                return await anext(self._batches)
        except StopAsyncIteration:
            return None

    def push_back(self, events: Sequence[RawEvent]) -> None:
        """Return these events first at the next call."""
        self._rest = events

    async def aclose(self) -> None:
        """Close the watch."""
        if isinstance(self._batches, AsyncGenerator):
            await self._batches.aclose()
