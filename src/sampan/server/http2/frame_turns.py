"""`FrameTurns`: limit of the frames that all HTTP/2 connections of a server process in one turn of the event loop.

Each connection has its own `FrameBudget`, but many connections may spend theirs at the same time. At the limit of a
turn, further connections wait for the next turns, in order of arrival. Their transports do not read meanwhile.
"""

import asyncio
from collections import deque
from collections.abc import Callable

FRAMES_PER_TURN = 512
"""About 10 ms."""


class FrameTurns:
    """Queue of the connections that wait for a turn. Used on the event loop only."""

    def __init__(self, loop: asyncio.AbstractEventLoop, frames_per_turn: int = FRAMES_PER_TURN) -> None:
        self._loop = loop
        self._frames_per_turn = self._left = frames_per_turn
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_counting = False

    @property
    def open(self) -> bool:
        """True if a connection that does not wait may handle frames now."""
        return self._left > 0 and not self._waiting

    def spend(self, frames: int) -> None:
        """Count frames that were handled."""
        self._left -= frames
        self._count()

    def wait(self, handle: Callable[[], None]) -> None:
        """Call `handle` in one of the next turns."""
        self._waiting.append(handle)
        self._count()

    def _count(self) -> None:
        if not self._is_counting:
            self._is_counting = True
            self._loop.call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._left, self._is_counting = self._frames_per_turn, False
        try:
            for _ in range(len(self._waiting)):
                if self._left <= 0:
                    break
                self._waiting.popleft()()
        finally:
            if self._waiting:
                self._count()
