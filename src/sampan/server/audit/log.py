"""`LogBackend`: writes one line for each event to a file or to standard output.

Concurrency: one thread writes, so a slow disk delays only the requests that wait for their events. Events that arrive
during a write are written together afterwards. The task of `run()` removes and compresses old files in another thread.
Source: apiserver plugin/pkg/audit/log/backend.go (1.36).
"""

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from sampan.server.audit.event import AuditEvent
from sampan.server.audit.metrics import AuditMetrics

FORMATS = ("json", "legacy")


class LineWriter(Protocol):
    """Destination of lines."""

    def write(self, data: bytes) -> bool:
        """Append whole lines. Return True if `tidy` should be called. Raises `OSError`."""
        ...

    def tidy(self) -> None:
        """Remove and compress old files. Raises `OSError`."""
        ...


class StandardOutput:
    """Writes lines to the standard output of this process."""

    def write(self, data: bytes) -> bool:
        """Append whole lines."""
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return False

    def tidy(self) -> None:
        """Remove and compress old files."""


class LogBackend:
    """Writes events as lines."""

    name = "log"

    def __init__(self, writer: LineWriter, format_: str, metrics: AuditMetrics) -> None:
        self._writer, self._format, self._metrics = writer, format_, metrics
        self._untidy = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "audit log")
        self._lock = threading.Lock()
        self._waiting: list[AuditEvent] = []
        self._next: asyncio.Future[bool] | None = None
        """The next write, which includes all waiting events; None if no write is scheduled."""

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Record or queue events."""
        with self._lock:
            self._waiting.extend(events)
            if self._next is None:
                self._next = asyncio.get_running_loop().run_in_executor(self._thread, self._write_waiting)
            written = self._next
        try:
            # Several requests wait for the same write. The cancellation of one must not cancel the write.
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
        """Run background work until cancelled."""
        while True:
            await self._untidy.wait()
            self._untidy.clear()
            try:
                await asyncio.to_thread(self._writer.tidy)
            except OSError as error:
                self._metrics.failed(self.name, f"cannot remove or compress old files: {error}", ())
