"""`EventStream`: one watch, read batch by batch, with a deadline for each."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from sampan.client.list_watch import RawEvent


class EventStream:
    """A watch whose batches can be given back in part, so that another reader goes on behind the first."""

    def __init__(self, batches: AsyncIterator[Sequence[RawEvent]]) -> None:
        self._batches = batches
        self._rest: Sequence[RawEvent] = ()

    async def next(self, until: float) -> Sequence[RawEvent] | None:
        """The next batch, None at the end. `until` is in the loop's time.

        Raises `TimeoutError` when nothing has come until then (the stream is of no use any more), `ApiError`,
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

    def give_back(self, events: Sequence[RawEvent]) -> None:
        """Have these come next."""
        self._rest = events

    async def aclose(self) -> None:
        """Give the watch up."""
        if isinstance(self._batches, AsyncGenerator):
            await self._batches.aclose()
