"""`LogBackend`: one line for each event, in a file or on the standard output.

Concurrency: without a buffer before it, lines are written in the task of the request, which costs one system call;
behind a buffer in a thread. Files that were put aside are looked after by the task of `run()`, in a thread.
Source: apiserver plugin/pkg/audit/log/backend.go (1.36).
"""

import asyncio
import sys
from collections.abc import Sequence
from typing import Protocol

from sampan.server.audit.event import Event
from sampan.server.audit.metrics import AuditMetrics

FORMATS = ("json", "legacy")


class LineWriter(Protocol):
    """Where lines go."""

    def write(self, data: bytes) -> bool:
        """Append whole lines. Gives whether `tidy` has something to do. Raises `OSError`."""
        ...

    def tidy(self) -> None:
        """Look after old files. Raises `OSError`."""
        ...


class StandardOutput:
    """Lines for whoever reads this process' output."""

    def write(self, data: bytes) -> bool:
        """See `LineWriter`."""
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return False

    def tidy(self) -> None:
        """See `LineWriter`."""


class LogBackend:
    """Writes events. `threaded`: not on the event loop."""

    name = "log"

    def __init__(self, writer: LineWriter, format_: str, metrics: AuditMetrics, *, threaded: bool = False) -> None:
        self._writer, self._format, self._metrics, self._threaded = writer, format_, metrics, threaded
        self._untidy = asyncio.Event()

    async def process(self, events: Sequence[Event]) -> bool:
        """See `Backend`."""
        try:
            if self._threaded:
                rotated = await asyncio.to_thread(self._write, events)
            else:
                rotated = self._write(events)
        except OSError as error:
            self._metrics.failed(self.name, str(error), events)
            return False
        if rotated:
            self._untidy.set()
        return True

    def _write(self, events: Sequence[Event]) -> bool:
        if self._format == "legacy":
            return self._writer.write("".join(f"{event.legacy()}\n" for event in events).encode())
        return self._writer.write(b"".join([event.document() + b"\n" for event in events]))

    async def run(self) -> None:
        """See `Backend`."""
        while True:
            await self._untidy.wait()
            self._untidy.clear()
            try:
                await asyncio.to_thread(self._writer.tidy)
            except OSError as error:
                self._metrics.failed(self.name, f"cannot look after old files: {error}", ())
