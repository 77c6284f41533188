"""`LoopTurns`: limit of the work of one kind that all connections of a server cause in one turn of the event loop.

Each connection has its own limits, but many connections may reach theirs at the same time. At the limit of a turn,
further connections wait for the next turns, in order of arrival. Their sockets are not read meanwhile.
"""

import asyncio
from collections import deque
from collections.abc import Callable


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
