"""`Journal`: all writes to the store of a cluster in their order, with their times.

A waiting reader resumes at the next write.

Concurrency: `run` is one task of the server. Readers only read the recorded writes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sampan.core.clock import unix_time
from sampan.storage.encoding import decode
from sampan.storage.memory import MemoryStore
from sampan.storage.signal import Signal
from sampan.storage.store import StoreEvent, prefix_end

_PREFIX = "/registry/"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One write to the store."""

    at_s: float
    """Seconds since the epoch."""
    event: StoreEvent

    @property
    def key(self) -> str:
        """Key in the store: `/registry/<resource>/<namespace>/<name>`."""
        return self.event.key

    @property
    def revision(self) -> int:
        """Revision of the store after the write."""
        return self.event.revision

    @property
    def after(self) -> dict[str, Any] | None:
        """The object after the write; None: it was deleted."""
        return None if self.event.value is None else decode(self.event.value)

    @property
    def before(self) -> dict[str, Any] | None:
        """The object before the write; None: it was created."""
        return None if self.event.previous is None else decode(self.event.previous.value)


class Journal:
    """Writes since the start of the cluster."""

    def __init__(self) -> None:
        self._writes: list[JournalEntry] = []
        self._listeners: list[Callable[[JournalEntry], None]] = []
        self.changed = Signal()
        """Notified after each write."""

    @property
    def writes(self) -> Sequence[JournalEntry]:
        """All writes, oldest first."""
        return self._writes

    def has_deleted(self, resource: str, namespace: str, name: str) -> bool:
        """Return True if an object was deleted, by the name of its resource."""
        end = f"/{namespace}/{name}" if namespace else f"/{name}"
        return any(
            write.event.value is None and write.key.endswith(end) and resource in write.key.split("/")
            for write in self._writes
        )

    def listen(self, listener: Callable[[JournalEntry], None]) -> None:
        """Call a function for each write from now on."""
        self._listeners.append(listener)

    @contextmanager
    def listening(self, listener: Callable[[JournalEntry], None]) -> Iterator[None]:
        """Call a function for each write in the block."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def run(self, store: MemoryStore) -> None:
        """Follow a store from its current revision, until cancelled."""
        after = await store.revision()
        async with store.watch(_PREFIX, prefix_end(_PREFIX), after) as watch:
            async for batch in watch:
                for event in batch.events:
                    self._add(JournalEntry(unix_time(), event))
                self.changed.notify()

    def _add(self, write: JournalEntry) -> None:
        self._writes.append(write)
        for listener in tuple(self._listeners):
            listener(write)
