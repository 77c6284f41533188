"""Watchers of the watch cache: selection and delivery of events.

Watchers with the same scope and the same selector form a group. A group selects each event once, and its watchers only
append.
"""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from sampan.storage.cache_counts import CacheCounts
from sampan.storage.records import Batch, CacheEvent, Delivery, Matches, Record, Respliced, WatchEnded, WatcherTooSlow
from sampan.storage.signal import LoneSignal
from sampan.storage.wakes import Wakes

T = TypeVar("T")
E = TypeVar("E", bound=Sequence[Delivery])


class WatchedCache(Protocol):
    """Part of the cache that a watcher uses."""

    @property
    def revision(self) -> int: ...

    def poll(self) -> None:
        """Apply the pending events of the store."""


Bridge = Callable[[int], Awaitable[tuple[Sequence[CacheEvent], int]]]
"""Reads the first events after an old revision from the store. Returns them and the last revision that they cover.

Raises `Compacted`.
"""


class Watcher:
    """One watch of the cache. A single task takes events from it; `next` returns all that are pending."""

    def __init__(
        self, cache: WatchedCache, group: "WatchGroup", groups: "WatchGroups", buffer_max: int, *, prompt: bool = False
    ) -> None:
        self._cache = cache
        self._prompt = prompt
        self._group = group
        self._groups = groups
        self._buffer_max = buffer_max
        self._first: Sequence[Delivery] = []
        self._pending: list[Delivery] = []
        self._error: WatchEnded | None = None
        self._signal = LoneSignal()
        self._bridge: Bridge | None = None
        self._position = 0
        self._bridged_from = 0
        self._future = 0

    async def __aenter__(self) -> Self:
        """Raise `Compacted` if the watch begins at a compacted revision."""
        # A compacted start must be an error before the response begins: then it is a 410 and not a broken stream.
        if self._bridge is not None:
            await self._cross(self._bridge)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def next(self, timeout_s: float | None = None) -> Batch:
        """Return all pending events. Wait up to `timeout_s` seconds (None: no timeout) for the first; then return none.

        The objects with which a watch begins are a separate batch.

        Raises `WatcherTooSlow` or `CacheReset` after all earlier events have been taken. Raises `Compacted` if the
        history that the watch begins in was compacted meanwhile.
        """
        if not self._ready():
            if self._bridge is not None:
                await self._cross(self._bridge)
                return self._take()
            if self._error is None and (timeout_s is None or timeout_s > 0):
                await self._signal.wait(timeout_s)
            # A timeout without events: a poll may bring events that the store has not dispatched yet.
            if not self._ready():
                self._cache.poll()
        # Earlier events are delivered before the error, so the client can resume after the last of them.
        if self._error is not None and not self._ready():
            raise self._error
        return self._take()

    @property
    def group(self) -> "WatchGroup":
        """Group of this watcher, whose members see the same events."""
        return self._group

    def close(self) -> None:
        """Stop receiving events. Idempotent."""
        self._groups.remove(self._group, self)
        self._signal.close()

    def begin(self, first: Sequence[Delivery], now: int) -> None:
        """Deliver these events first, outside the limit of the buffer. `now` is the revision that they reach.

        The sequence is kept as it is, until it is taken.
        """
        self._first = first
        self._position = now

    def begin_in_the_past(self, after: int, now: int, bridge: Bridge) -> None:
        """First read the events between `after` and `now` from the store."""
        self._position = after
        self._bridged_from = now
        self._bridge = bridge

    def begin_in_the_future(self, after: int) -> None:
        """Skip all events up to a revision that has not been written yet."""
        self._position = self._future = after

    def offer(self, deliveries: Sequence[Delivery]) -> None:
        """Receive events from the cache. A watcher with an empty buffer accepts a batch of any size."""
        if self._error is None:
            if self._future:
                deliveries = self._beyond(deliveries)
            # A single batch larger than the buffer must pass, or no watcher could ever receive it.
            if self._pending and len(self._pending) + len(deliveries) > self._buffer_max:
                self._groups.counts.slow += 1
                self.end(WatcherTooSlow("the watcher did not take its events in time"))
                return
            # Only the first event wakes the task. Later ones are taken together with it.
            if not self._pending:
                if self._prompt:
                    self.wake()
                else:
                    self._groups.wakes.add(self)
            self._pending.extend(deliveries)

    def wake(self) -> None:
        """Wake the task that waits for events."""
        self._signal.notify()

    def end(self, error: WatchEnded) -> None:
        """End with this error, after the pending events."""
        if self._error is None:
            self._error = error
            self._groups.remove(self._group, self)
            self._signal.notify()

    def _beyond(self, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        beyond = [delivery for delivery in deliveries if delivery[1].revision > self._future]
        if beyond:
            self._future = 0
        return beyond

    def _ready(self) -> bool:
        return bool(self._first) or (self._bridge is None and bool(self._pending))

    async def _cross(self, bridge: Bridge) -> None:
        events, reached = await bridge(self._position)
        # Later events are in `_pending` already, from the moment that the watch was added.
        self._first = [*self._first, *self._group.select([e for e in events if e.revision <= self._bridged_from])]
        self._position = reached
        if reached >= self._bridged_from:
            self._bridge = None

    def _take(self) -> Batch:
        first, self._first = self._first, []
        # The first events may be many, and made as they are taken: so they are not joined with others.
        if first or self._bridge is not None:
            return Batch(first, self._position)
        deliveries, self._pending = self._pending, []
        if self._error is None:
            # Nothing is pending up to the cache's revision, so a bookmark may report it.
            self._position = max(self._position, self._cache.revision)
        # After an error the cache may be ahead of what this watcher received, so only delivered events count.
        elif deliveries:
            self._position = max(self._position, deliveries[-1][1].revision)
        return Batch(deliveries, self._position)


class WatchGroup:
    """Watchers with the same scope and selector."""

    __slots__ = ("_made", "_respliced", "chosen", "matches", "scope", "watchers")

    def __init__(self, scope: str, matches: Matches, respliced: Respliced) -> None:
        self.scope = scope
        self.matches = matches
        self.watchers: list[Watcher] = []
        self.chosen: list[Delivery] = []
        self._respliced = respliced
        self._made: dict[Hashable, tuple[Delivery, Delivery, Any]] = {}

    def shared(self, form: Hashable, events: E, make: Callable[[E], T]) -> T:
        """Return `make(events)`, or its cached result from another watcher of the group that took the same events.

        `form` identifies everything else that the result depends on. `events` is not empty.
        """
        first, last = events[0], events[-1]
        known = self._made.get(form)
        if known is not None and known[0] is first and known[1] is last:
            made: T = known[2]
            return made
        made = make(events)
        # A cached result of a lone watcher would be kept in memory and never used.
        if len(self.watchers) > 1:
            self._made[form] = first, last, made
        return made

    def offer(self) -> None:
        """Pass the selected events to all watchers."""
        chosen, self.chosen = self.chosen, []
        # The cached results belong to the last batch. Each batch is encoded once for the whole group.
        self._made.clear()
        # A copy: `offer` may end a slow watcher, which removes it from the list.
        for watcher in tuple(self.watchers):
            watcher.offer(chosen)

    def select(self, events: Sequence[CacheEvent]) -> list[Delivery]:
        """Return the events of this scope as these watchers see them."""
        scope = self.scope
        whole = scope.endswith("/")
        deliveries: list[Delivery] = []
        for event in events:
            key = event.record.key
            if key.startswith(scope) if whole else key == scope:
                delivery = self.see(event)
                if delivery is not None:
                    deliveries.append(delivery)
        return deliveries

    def see(self, event: CacheEvent) -> Delivery | None:
        """Return the event as these watchers see it, or None if it does not concern them."""
        matches = self.matches
        if matches is None:
            return event.type, event
        previous = event.previous
        before = previous is not None and matches(previous)
        if event.type != "DELETED" and matches(event.record):
            # For a watch with a selector, an object that begins to match is new, and one that ceases to match is
            # deleted.
            return ("MODIFIED" if before else "ADDED"), event
        if not before or previous is None:
            return None
        if event.type == "DELETED":
            return "DELETED", event
        return "DELETED", self._as_deselected(event, previous)

    def _as_deselected(self, event: CacheEvent, previous: Record) -> CacheEvent:
        if event.deselected is None:
            record = self._respliced(previous, event.revision)
            event.deselected = CacheEvent("DELETED", record, previous, event.revision, {})
        return event.deselected


class WatchGroups:
    """Groups by scope: the whole resource, one namespace (both end in a slash) or one key.

    `Wakes` decides when watchers wake up; prompt watchers wake up at once.
    """

    def __init__(self, prefix: str, respliced: Respliced, counts: CacheCounts) -> None:
        self.counts = counts
        self.wakes = Wakes()
        self._prefix = prefix
        self._respliced = respliced
        self._by_scope: dict[str, dict[int, WatchGroup]] = {}
        self._size = 0

    def __len__(self) -> int:
        """Return the number of watchers."""
        return self._size

    def group(self, scope: str, matches: Matches) -> WatchGroup:
        """Return the group of this scope and selector. Selectors are compared by identity."""
        group = self._by_scope.get(scope, {}).get(id(matches))
        return group or WatchGroup(scope, matches, self._respliced)

    def add(self, group: WatchGroup, watcher: Watcher) -> None:
        """Start passing events to the watcher."""
        self._by_scope.setdefault(group.scope, {})[id(group.matches)] = group
        group.watchers.append(watcher)
        self._size += 1

    def remove(self, group: WatchGroup, watcher: Watcher) -> None:
        """Stop passing events to the watcher."""
        if watcher not in group.watchers:
            return
        group.watchers.remove(watcher)
        self._size -= 1
        if not group.watchers:
            groups = self._by_scope[group.scope]
            del groups[id(group.matches)]
            if not groups:
                del self._by_scope[group.scope]

    def dispatch(self, events: Sequence[CacheEvent]) -> None:
        """Pass events to all watchers that want them: one append for each watcher and batch."""
        if not self._by_scope:
            return
        touched: list[WatchGroup] = []
        for event in events:
            key = event.record.key
            namespace = key[: key.rfind("/") + 1]
            # A cluster-scoped resource has no namespace: its directory is the prefix itself, which must not count
            # twice.
            for scope in (self._prefix, namespace, key) if namespace != self._prefix else (namespace, key):
                for group in self._by_scope.get(scope, {}).values():
                    delivery = group.see(event)
                    if delivery is not None:
                        if not group.chosen:
                            touched.append(group)
                        group.chosen.append(delivery)
        for group in touched:
            group.offer()
        self.wakes.events_came()

    def end_all(self, error: WatchEnded) -> None:
        """End every watcher."""
        groups = [group for by_matches in self._by_scope.values() for group in by_matches.values()]
        for group in groups:
            for watcher in tuple(group.watchers):
                watcher.end(error)
