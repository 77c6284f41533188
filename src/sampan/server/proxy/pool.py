"""`Pool`: connections to upstreams that are kept for the next request.

Concurrency: `run()` closes what has idled too long, and everything when it is cancelled. While nobody runs it, nothing
is kept. Bounds: `PER_TARGET_MAX` and `TOTAL_MAX` idle connections; beyond them connections are closed after use.
"""

import asyncio
from collections import deque

from sampan.server.proxy.wire import Wire

PER_TARGET_MAX = 8
TOTAL_MAX = 256
IDLE_S = 90.0
SWEEP_S = 10.0


class Pool:
    """Idle connections by target."""

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._idle: dict[tuple[object, ...], deque[Wire]] = {}
        self._total = 0
        self._running = False

    def __len__(self) -> int:
        return self._total

    def take(self, key: tuple[object, ...]) -> Wire | None:
        """The connection that was used last, if one is alive."""
        wires = self._idle.get(key)
        while wires:
            wire = wires.pop()
            self._total -= 1
            if not wires:
                del self._idle[key]
            if wire.quiet:
                return wire
            wire.abort()
        return None

    def put(self, key: tuple[object, ...], wire: Wire) -> None:
        """Keep a connection whose answer has been read to the end."""
        wires = self._idle.get(key, ())
        if not self._running or not wire.quiet or len(wires) >= PER_TARGET_MAX or self._total >= TOTAL_MAX:
            wire.send_last(b"")
            return
        wire.idle_since = asyncio.get_running_loop().time()
        self._idle.setdefault(key, deque()).append(wire)
        self._total += 1

    async def run(self) -> None:
        """Keep connections until cancelled."""
        self._running = True
        try:
            while True:
                await asyncio.sleep(min(SWEEP_S, self._idle_s))
                self.sweep(asyncio.get_running_loop().time() - self._idle_s)
        finally:
            self._running = False
            self.sweep(float("inf"))

    def sweep(self, before: float) -> None:
        """Close the connections that have idled since before loop time `before`, and those that are dead."""
        for key, wires in list(self._idle.items()):
            kept = deque(wire for wire in wires if wire.idle_since >= before and wire.quiet)
            for wire in wires:
                if wire not in kept:
                    wire.send_last(b"")
            self._total -= len(wires) - len(kept)
            if kept:
                self._idle[key] = kept
            else:
                del self._idle[key]
