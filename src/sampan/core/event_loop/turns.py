"""Limits of the work that all clients of a server together cause in one turn of the event loop.

Each client has its own limits, but many may reach theirs at the same time. At the limit of a turn, the others wait for
the next turns, in order of arrival. `LoopTurns` is for callbacks of connections, whose sockets are not read meanwhile.
`TurnQueue` is for coroutines.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial


class LoopTurns:
    """Queue of the connections that wait for a turn. Used on the event loop only."""

    def __init__(self, loop: asyncio.AbstractEventLoop, units_per_turn: int) -> None:
        """Allow `units_per_turn` units of work in each turn. A unit is, for example, a frame, a handshake or a µs."""
        self._loop = loop
        self._units_per_turn = self._left = units_per_turn
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_counting = False
        self.number = 0
        """Number of the current turn; turns without work are not counted."""

    @property
    def open(self) -> bool:
        """True if a connection that does not wait may continue now."""
        return self._left > 0 and not self._waiting

    @property
    def spent(self) -> bool:
        """True if the limit of this turn is reached. Until then, the current connection continues."""
        return self._left <= 0

    def spend(self, units: int) -> None:
        """Count work that was done."""
        self._left -= units
        if not self._is_counting:
            self._count()

    def wait(self, handle: Callable[[], None]) -> None:
        """Call `handle` in one of the next turns. `handle` must call `spend` for its work."""
        self._waiting.append(handle)
        if not self._is_counting:
            self._count()

    def _count(self) -> None:
        self._is_counting = True
        self._loop.call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._left, self._is_counting = self._units_per_turn, False
        self.number += 1
        try:
            for _ in range(len(self._waiting)):
                if self._left <= 0:
                    break
                self._waiting.popleft()()
        finally:
            if self._waiting and not self._is_counting:
                self._count()


class TurnQueue:
    """Queue of long computations that are divided into pieces: one piece runs in each turn of the event loop.

    A piece may take some milliseconds. Without turns, the pieces of fifty requests run before the next byte is read.
    """

    def __init__(self) -> None:
        self._limit: LoopTurns | None = None

    async def begin(self) -> None:
        """Return when a piece may run. It runs at once, without an `await`. Pieces begin in order of these calls."""
        loop = asyncio.get_running_loop()
        if self._limit is None:
            self._limit = LoopTurns(loop, 1)
        if self._limit.open:
            self._limit.spend(1)
            return
        begun = loop.create_future()
        self._limit.wait(partial(self._begin, begun))
        await begun

    def _begin(self, begun: asyncio.Future[None]) -> None:
        if self._limit is not None and not begun.done():  # The caller may have been cancelled.
            self._limit.spend(1)
            begun.set_result(None)
