"""`LogBackend`: one line for each event, in a file or on the standard output.

Concurrency: lines are written by one thread, so that a slow disk holds up nobody but those who wait for their events.
What comes while it writes is written together next. Files that were put aside are looked after by the task of
`run()`, in another thread.
Source: apiserver plugin/pkg/audit/log/backend.go (1.36).
"""

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
    """Writes events."""

    name = "log"

    def __init__(self, writer: LineWriter, format_: str, metrics: AuditMetrics) -> None:
        self._writer, self._format, self._metrics = writer, format_, metrics
        self._untidy = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "audit log")
        self._lock = threading.Lock()
        self._waiting: list[Event] = []
        self._next: asyncio.Future[bool] | None = None
        """The write that will take what waits; None: nothing does."""

    async def process(self, events: Sequence[Event]) -> bool:
        """See `Backend`."""
        with self._lock:
            self._waiting.extend(events)
            if self._next is None:
                self._next = asyncio.get_running_loop().run_in_executor(self._thread, self._write_waiting)
            written = self._next
        try:
            # Others wait for the same write: who gives up does so alone.
            rotated = await asyncio.shield(written)
        except OSError as error:
            self._metrics.failed(self.name, str(error), events)
            return False
        if rotated:
            self._untidy.set()
        return True

    def _write_waiting(self) -> bool:
        with self._lock:
            events, self._waiting, self._next = self._waiting, [], None
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
