"""`Refusals`: a write for which the server cannot be reached, and its repetitions without a delay."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from sampan.client import TransportError
from sampan.testing.explore.plan import WriteId

REPEATED_MAX: Final = 50
"""Attempts at one instant after which a retry has no delay that grows: a hot loop on the server."""


@dataclass(slots=True)
class Refusals:
    """Attempts of one write since its first refusal, at the same instant of virtual time."""

    _write: WriteId | None = None
    _at_s: float = 0.0
    _count: int = 0

    def begin(self, write: WriteId) -> TransportError:
        """Return the error of the first refusal."""
        self._write, self._at_s, self._count = replace(write, occurrence=1), asyncio.get_running_loop().time(), 1
        return TransportError("connection refused", sent=False)

    def repeated(self, write: WriteId) -> Iterator[str]:
        """Refuse a write that is repeated at once; after `REPEATED_MAX` times, yield the fault instead.

        Raises `TransportError`.
        """
        same = self._write is not None and replace(write, occurrence=1) == self._write
        if not same or asyncio.get_running_loop().time() > self._at_s:
            return
        self._count += 1
        if self._count < REPEATED_MAX:
            raise TransportError("connection refused", sent=False)
        self._write = None
        yield f"{self._count} attempts without a delay: {write.verb} {write.resource} {write.name}"
