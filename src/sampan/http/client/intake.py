"""`Intake`: received bytes of a connection that wait until a turn of the event loop has room for them.

A server may send a body in chunks of one byte. 256 KiB of them take 100 ms to parse, and a server may have many
connections. So bytes are parsed in slices, and all connections of a client share the limit of a turn. A slice grows
while it contains few pieces, so that ordinary bodies are parsed at once.
"""

from collections.abc import Callable
from typing import Final

from sampan.core.event_loop.turns import LoopTurns

PIECES_PER_TURN: Final = 8_000
"""Pieces of bodies that all connections of a client parse in one turn: about 3 ms."""
SLICE_BYTES_MIN: Final = 16 << 10
"""Size of a slice after one with many pieces: at most 2,800 pieces."""
SLICE_BYTES_MAX: Final = 256 << 10
_FEW: Final = 64
"""Number of pieces of a slice up to which the next slice is twice as large."""


class Intake:
    """Slices the received bytes of one connection."""

    __slots__ = ("_hold", "_is_waiting", "_parse", "_release", "_slice_bytes", "_turn_limit", "_unparsed")

    def __init__(
        self,
        turn_limit: LoopTurns,
        parse: Callable[[bytes], int],
        *,
        hold: Callable[[], None],
        release: Callable[[], None],
    ) -> None:
        """`parse` returns the number of pieces. `hold` stops the reading of the socket, `release` continues it."""
        self._turn_limit = turn_limit
        self._parse = parse
        self._hold, self._release = hold, release
        self._unparsed = memoryview(b"")
        self._slice_bytes = SLICE_BYTES_MAX
        self._is_waiting = False

    def __bool__(self) -> bool:
        """Return True if bytes wait."""
        return bool(self._unparsed)

    def received(self, data: bytes) -> None:
        """Parse bytes, now or in one of the next turns."""
        is_next = not self._is_waiting and self._turn_limit.open
        if is_next and not self._unparsed and len(data) <= self._slice_bytes:
            self._parse_slice(data)
            return
        self._unparsed = memoryview(bytes(self._unparsed) + data if self._unparsed else data)
        if is_next:
            self._run()
        elif not self._is_waiting:
            self._wait()

    def take(self) -> bytes:
        """Return the bytes that wait. They are not parsed any more."""
        data, self._unparsed = bytes(self._unparsed), memoryview(b"")
        return data

    def _parse_slice(self, data: bytes) -> None:
        pieces = self._parse(data)
        self._turn_limit.spend(1 + pieces)
        is_dense = pieces > _FEW
        self._slice_bytes = SLICE_BYTES_MIN if is_dense else min(2 * self._slice_bytes, SLICE_BYTES_MAX)

    def _run(self) -> None:
        while self._unparsed:
            if self._turn_limit.spent:
                self._wait()
                return
            size_bytes = self._slice_bytes
            data, self._unparsed = bytes(self._unparsed[:size_bytes]), self._unparsed[size_bytes:]
            self._parse_slice(data)

    def _wait(self) -> None:
        self._is_waiting = True
        self._hold()
        self._turn_limit.wait(self._go_on)

    def _go_on(self) -> None:
        self._is_waiting = False
        self._run()
        if not self._is_waiting:
            self._release()
