"""`WatchBroadcaster`: passes committed writes to the watches of an engine, before they are acknowledged.

One broadcaster belongs to one store. A watch reads the engine's history if it starts at an older revision, or if its
buffer overflows. Once it has caught up with the broadcaster, it reads its buffer only. Nothing here runs as a task.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from sampan.storage.signal import Signal
from sampan.storage.store import EventBatch, StoreEvent, prefix_end

BUFFER_MAX = 10_000
_DIRECTORIES_MAX = 4096

History = Callable[[str, str, int, int], EventBatch]
"""`history(start, end, after, until)`: the first events of the range with after < revision <= until.

It returns as many as can be read in a few milliseconds. The revision of the batch (> after) is the last one covered.
Raises `Compacted`.
"""


@runtime_checkable
class LocalWatch(Protocol):
    """Watch of an engine in this process: its caller can take events without waiting."""

    def poll(self) -> EventBatch | None:
        """Take the pending events with the store's revision. Return None while the watch still reads history."""

    @property
    def has_events(self) -> bool:
        """True if events are pending, not only a newer revision of the store."""

    def on_events(self, listener: Callable[[], None]) -> None:
        """Call `listener` each time that `has_events` becomes True. It must not wait, and must not call the watch."""


class BufferedWatch:
    """One watch: the context manager and the iterator of `Store.watch`."""

    def __init__(self, broadcaster: "WatchBroadcaster", start: str, end: str, after: int) -> None:
        self.start = start
        self.end = end
        self._broadcaster = broadcaster
        self._position = after
        self._live_from = after
        self._overflown = False
        self._pending: list[StoreEvent] = []
        self.has_events = False
        """True if events are pending, not only a newer revision of the store."""
        self._listener: Callable[[], None] | None = None
        self._signal = Signal()

    async def __aenter__(self) -> Self:
        # No await between the two lines: an event in between would be in neither the history read nor the buffer.
        self._live_from = max(self._position, self._broadcaster.revision)
        self._broadcaster.add(self)
        try:
            if self._position < self._live_from:
                await self._check_history()
        except BaseException:
            self._broadcaster.remove(self)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._broadcaster.remove(self)

    def __aiter__(self) -> AsyncIterator[EventBatch]:
        return self

    async def __anext__(self) -> EventBatch:
        while True:
            while self._behind():
                self._broadcaster.check()
                batch = await self._read_history()
                if batch.events or not self._behind():
                    return batch
                # A chunk without events of the range: let other tasks run before the next one.
                await asyncio.sleep(0)
            if self._pending:
                return self._take()
            self._broadcaster.check()
            if self._broadcaster.closed:
                raise StopAsyncIteration
            await self._signal.wait()  # a poll may notice meanwhile that the watch is behind

    def poll(self) -> EventBatch | None:
        """Take the pending events with the store's revision."""
        return None if self._behind() else self._take()

    def on_events(self, listener: Callable[[], None]) -> None:
        """Call `listener` each time that `has_events` becomes True."""
        self._listener = listener

    def offer(self, event: StoreEvent) -> None:
        """Receive an event of the range from the broadcaster."""
        # The history read may already have covered an event that was still under way: never deliver it twice.
        if self._overflown or event.revision <= self._position:
            return
        if len(self._pending) >= self._broadcaster.buffer_max:
            self.overflow()
        else:
            self._pending.append(event)
            if not self.has_events:
                self.has_events = True
                if self._listener is not None:
                    self._listener()
            self._signal.notify()

    def wake(self) -> None:
        """Wake the iterator up, so that it notices that the broadcaster has closed or failed."""
        self._signal.notify()

    def overflow(self) -> None:
        """Drop the pending events. The watch reads them from the history instead."""
        self._overflown = True
        self._pending.clear()
        self.has_events = False
        self._signal.notify()

    def _behind(self) -> bool:
        # Resume from the history up to the current revision; events after it arrive in the buffer again.
        if self._overflown:
            self._overflown = False
            self._live_from = max(self._position, self._broadcaster.revision)
        return self._position < self._live_from

    async def _check_history(self) -> None:
        """Raise `Compacted` if the history no longer contains the first revision of the watch."""
        self._history()(self.start, self.end, self._position, self._position)

    async def _read_history(self) -> EventBatch:
        batch = self._history()(self.start, self.end, self._position, self._live_from)
        self._position = batch.revision
        return batch

    def _history(self) -> History:
        assert self._broadcaster.history is not None
        return self._broadcaster.history

    def _take(self) -> EventBatch:
        events, self._pending = self._pending, []
        self.has_events = False
        self._position = max(self._position, self._broadcaster.revision)
        return EventBatch(events, self._position)


class WatchBroadcaster:
    """Finds the watches of a key, and passes events to them.

    Watches of prefixes that end in a slash cost nothing for keys outside them.
    """

    def __init__(self, history: History | None, *, buffer_max: int = BUFFER_MAX) -> None:
        """`history` is None if the watches of the engine read older events themselves."""
        self.history = history
        self.buffer_max = buffer_max
        self.revision = 0
        self.closed = False
        self._failure: Exception | None = None
        self._by_prefix: dict[str, list[BufferedWatch]] = {}
        self._others: list[BufferedWatch] = []
        self._directories: dict[str, list[BufferedWatch]] = {}

    def watch(self, start: str, end: str, after: int) -> BufferedWatch:
        """Return a watch, which begins when its context is entered."""
        return BufferedWatch(self, start, end, after)

    def add(self, watch: BufferedWatch) -> None:
        """Start passing events to the watch."""
        # The lists of watches of a directory are derived from the set of watches, so any change drops them.
        self._directories.clear()
        if watch.start.endswith("/") and watch.end == prefix_end(watch.start):
            self._by_prefix.setdefault(watch.start, []).append(watch)
        else:
            self._others.append(watch)

    def remove(self, watch: BufferedWatch) -> None:
        """Stop passing events to the watch."""
        self._directories.clear()
        watches = self._by_prefix.get(watch.start, [])
        if watch in watches:
            watches.remove(watch)
            if not watches:
                del self._by_prefix[watch.start]
        elif watch in self._others:
            self._others.remove(watch)

    def dispatch(self, events: Sequence[StoreEvent], revision: int) -> None:
        """Pass committed writes to the watches, in order. `revision` is the store's revision after them."""
        for event in events:
            key = event.key
            for watch in self._of_directory(key[: key.rfind("/") + 1]):
                watch.offer(event)
            for watch in self._others:
                if watch.start <= key < watch.end:
                    watch.offer(event)
        self.revision = revision

    def skip(self, revision: int) -> None:
        """Advance to a revision although events before it were missed. Every watch reads them from the history."""
        self.revision = revision
        # Each of them reads the missed events from the history, like a watch whose buffer is full.
        for watch in self._all():
            watch.overflow()

    def fail(self, error: Exception | None) -> None:
        """End all iterators with an error, after their pending events. None clears the error."""
        self._failure = error
        for watch in self._all():
            watch.wake()

    def check(self) -> None:
        """Raise the error passed to `fail`, if any."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End all iterators, after their pending events."""
        self.closed = True
        for watch in self._all():
            watch.wake()

    def _all(self) -> list[BufferedWatch]:
        return [watch for watches in [*self._by_prefix.values(), self._others] for watch in watches]

    def _of_directory(self, directory: str) -> Sequence[BufferedWatch]:
        """Return the watches whose prefix contains every key of this directory."""
        found = self._directories.get(directory)
        if found is None:
            found = []
            at = directory.find("/")
            while at >= 0:
                at += 1
                found += self._by_prefix.get(directory[:at], ())
                at = directory.find("/", at)
            # Clients choose namespaces, so only this limit bounds the memory.
            if len(self._directories) >= _DIRECTORIES_MAX:
                self._directories.clear()
            self._directories[directory] = found
        return found
