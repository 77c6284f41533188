"""`WatchCache`: one resource of the store in memory, for GET, LIST and WATCH.

Concurrency: `run` and `poll` are the only writers. `poll` takes the pending events of the store's watch, on the same
event loop. Both apply a whole batch without awaiting, so readers always see one revision and need no lock. The buffer
of a watcher is bounded; at the bound the watcher ends with `WatcherTooSlow`.

Guarantees: state, history and watchers advance together, in revision order. If events are lost (`Compacted`), the cache
lists the store again, swaps its state at once and ends all watchers with `CacheReset`. There is never a silent gap.

Source: apiserver storage/cacher (1.36).
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence

from sampan.core.clock import monotonic
from sampan.storage.broadcaster import BufferedWatch, LocalWatch
from sampan.storage.cache_counts import CacheCounts
from sampan.storage.records import (
    CacheEvent,
    CacheReset,
    Delivery,
    Extract,
    InitialEvents,
    Matches,
    Page,
    Record,
    Respliced,
)
from sampan.storage.ring import EventRing
from sampan.storage.signal import Signal, deadline_of, seconds_left
from sampan.storage.sorted_records import SortedRecords, select_page, undone
from sampan.storage.store import (
    STORE_ERRORS,
    Compacted,
    EventBatch,
    FutureRevision,
    KeyValue,
    Store,
    StoreEvent,
    StoreReplaced,
    Untransformable,
    prefix_end,
)
from sampan.storage.unreadable import UnreadableKeys, fault_of
from sampan.storage.watcher import Watcher, WatchGroups

_log = logging.getLogger(__name__)
_POLL_S = 0.02
_LOAD_CHUNK = 1000
_FETCH_MAX = 10_000
_SNAPSHOTS_MAX = 4
_TAKEN = KeyValue("", b"", 0, 0)


class WatchCache:
    """In-memory copy of the rows below `prefix`, which ends in a slash.

    Keys are `prefix + name` or `prefix + namespace + "/" + name`.
    """

    def __init__(
        self,
        store: Store,
        prefix: str,
        extract: Extract,
        respliced: Respliced,
        *,
        history_window_s: float = 75,
        events_min: int = 100,
        events_max: int = 102_400,
        clock: Callable[[], float] = monotonic,
        backoff_s: tuple[float, float] = (0.1, 5.0),
    ) -> None:
        """`backoff_s`: the first and the longest delay before the store is tried again."""
        self.prefix = prefix
        self._end = prefix_end(prefix)
        self._store = store
        self._extract = extract
        self._respliced = respliced
        self._backoff_s = backoff_s
        self._records = SortedRecords()
        self.unreadable = UnreadableKeys()
        self.counts = CacheCounts()
        self.ring = EventRing(history_window_s, events_min, events_max, clock)
        self._groups = WatchGroups(prefix, respliced, self.counts)
        self._snapshots: dict[int, SortedRecords] = {}
        self._watch: LocalWatch | None = None
        self._revision = 0
        self._changed = 0
        self._listed = self._ready = self._stopped = False
        self._moved = Signal()
        self.listeners: list[Callable[[], None]] = []
        """Called after each change of the objects, and after they are listed again."""
        self.pending_listeners: list[Callable[[], None]] = []
        """Called when the store of this process has a change that is not applied yet. `poll_events` applies it."""
        self.successor: WatchCache | None = None
        """Cache that has replaced this one and makes records in another way. Requests in progress continue with it."""
        self.retired = False
        """True if the resource is no longer served and nothing has replaced the cache."""

    @property
    def newest(self) -> "WatchCache":
        """The last successor, or this cache if nothing has replaced it."""
        cache = self
        while cache.successor is not None:
            cache = cache.successor
        return cache

    async def run(self) -> None:
        """Follow the store until cancelled. Raises `StoreReplaced`."""
        first, longest = self._backoff_s
        delay = first
        self._stopped = False
        try:
            while True:
                try:
                    await self._follow()
                    delay = min(delay * 2, longest)
                except Compacted:
                    # Events are lost, so the state cannot be continued: list again, without a longer delay.
                    self._listed = False
                    delay = first
                except StoreReplaced:
                    # Revisions of another store are not comparable with those that clients have; the owner decides.
                    raise
                except Exception as error:
                    trace = None if isinstance(error, STORE_ERRORS) else error
                    _log.warning(
                        "cannot follow the store for the watch cache of %s: %s; trying again",
                        self.prefix,
                        error,
                        exc_info=trace,
                    )
                    delay = min(delay * 2, longest)
                self._ready = False
                self._moved.notify()
                await asyncio.sleep(delay)
        finally:
            self._ready, self._stopped = False, True
            self._moved.notify()
            self._groups.end_all(CacheReset(f"the watch cache of {self.prefix} has stopped"))

    def reset(self) -> None:
        """Discard the state, so that the next `run` lists the store again. Assumption: no `run` is active."""
        self._listed = self._ready = False

    @property
    def ready(self) -> bool:
        """True if the cache has its state and follows the store."""
        return self._ready

    async def wait_ready(self, timeout_s: float | None = None) -> bool:
        """Wait until ready. Return False after `timeout_s` seconds."""
        deadline = deadline_of(timeout_s)
        while not self._ready:
            if not await self._moved.wait(seconds_left(deadline)):
                return self._ready
        return True

    @property
    def revision(self) -> int:
        """Revision of the cache: it contains every write up to this one."""
        return self._revision

    @property
    def changed(self) -> int:
        """Revision of the newest write to this resource. Lists stay the same until it changes."""
        return self._changed

    @property
    def watchers(self) -> int:
        """Number of watchers, for metrics."""
        return len(self._groups)

    def __len__(self) -> int:
        return len(self._records)

    @property
    def size_bytes(self) -> int:
        """Approximate size of all objects, from a sample, for metrics."""
        return self._records.size_bytes

    def poll(self) -> None:
        """Apply the store's pending events for this cache, if the store is in this process."""
        if self._watch is not None:
            batch = self._watch.poll()
            if batch is not None:
                self._apply(batch)

    async def fresh(self, timeout_s: float = 3.0) -> int:
        """Bring the cache up to the store's newest revision, for a linearizable read. Return the cache's revision.

        If the engine is in this process, the call does not wait. Raises `FutureRevision` after `timeout_s` seconds.
        """
        # The store is read first: whatever was acknowledged before this call is at or below this revision.
        target = await self._store.revision()
        if self._revision < target:
            await self.wait_for(target, timeout_s)
        self.counts.reads += 1
        return self._revision

    async def wait_for(self, revision: int, timeout_s: float = 3.0) -> None:
        """Wait until the cache reaches the revision. Raises `FutureRevision` after `timeout_s` seconds, or if `run` has
        ended.
        """
        self.poll()
        if self._revision < revision:
            with self.counts.waiting():
                await self._wait_for(revision, deadline_of(timeout_s))

    async def _wait_for(self, revision: int, deadline: float | None) -> None:
        while self._revision < revision:
            left = seconds_left(deadline)
            if self._stopped or (left is not None and left <= 0):
                raise FutureRevision(revision, self._revision)
            await self._moved.wait(min(left or _POLL_S, _POLL_S))
            self.poll()

    def poll_events(self) -> int:
        """Return `changed` after reading pending events. Without events, `revision` is not brought up to date."""
        if self._watch is not None and self._watch.has_events:
            self.poll()
        return self._changed

    def get(self, key: str) -> Record | None:
        """Return the record, or None. Raises `Untransformable` if its value cannot be decrypted."""
        record = self._records.get(key)
        if record is None and self.unreadable:
            self.unreadable.check_key(key)
        return record

    def events_after(self, revision: int) -> Sequence[CacheEvent] | None:
        """Return the events after a revision, in order, or None if the history does not reach back that far."""
        return self.ring.after(revision) if revision >= self.ring.reaches else None

    def list(self, prefix: str, *, after_key: str = "", limit: int = 0, matches: Matches = None) -> Page:
        """Return the records under `prefix` after `after_key`. Raises `Untransformable` if one cannot be read."""
        if self.unreadable:
            self.unreadable.check(prefix, self._records.get)
        return self._records.page(prefix, after_key, limit, matches, self._revision)

    def readable(self) -> Sequence[Record]:
        """Return all records that can be read. The caller checks `unreadable` for the other records."""
        return self._records.all(self.prefix)

    async def list_at(
        self, revision: int, prefix: str, *, after_key: str = "", limit: int = 0, matches: Matches = None
    ) -> Page:
        """Return a page of the records as they were at `revision`.

        The page comes from the cache's history, or from the store's for older revisions. Raises `Compacted`. Raises
        `FutureRevision` at once, without waiting for the revision.
        """
        self.poll()
        if revision > self._revision:
            raise FutureRevision(revision, self._revision)
        if revision < self._store.compacted:
            raise Compacted(self._store.compacted, self._revision)
        if self.unreadable:
            self.unreadable.check(prefix, self._records.get)
        if revision >= self.ring.reaches and self._revision:
            return self._snapshot(revision).page(prefix, after_key, limit, matches, revision)
        return await self._list_stored(revision, prefix, after_key, limit, matches)

    def watch(
        self,
        prefix: str,
        *,
        after: int | None = None,
        matches: Matches = None,
        initial: bool = False,
        key: str = "",
        buffer_max: int = 1000,
        prompt: bool = False,
    ) -> Watcher:
        """Return a watch of `prefix` (all of the resource or one namespace), or of the single `key`.

        With `after` None or `initial`, the watch begins with an ADDED event for each object. Otherwise it begins with
        all events after that revision, from the history of the cache or of the store. In the second case entering its
        context, or `next`, may raise `Compacted`.

        A `prompt` watch wakes up for every event at once, so its consumer acts before a client can react to the new
        state. `Wakes` delays the wake-ups of other watches.

        Raises `CacheReset` if the resource is no longer served.
        """
        if self.retired:
            raise CacheReset(f"nothing is served below {self.prefix} any more")
        self.poll()
        scope = key or prefix
        group = self._groups.group(scope, matches)
        watcher = Watcher(self, group, self._groups, buffer_max, prompt=prompt)
        if after is None or initial:
            watcher.begin(self._initial(scope, matches), self._revision)
        elif after > self._revision:
            # The client got this revision from another server, or from another resource, which is ahead of this cache.
            watcher.begin_in_the_future(after)
        elif after >= self.ring.reaches:
            watcher.begin(group.select(self.ring.after(after)), self._revision)
        else:
            watcher.begin_in_the_past(after, self._revision, self._bridge)
        self._groups.add(group, watcher)
        return watcher

    async def _follow(self) -> None:
        if not self._listed:
            await self._load()
        async with self._store.watch(self.prefix, self._end, self._revision) as watch:
            # The check of a class is much faster than that of a protocol.
            self._watch = watch if isinstance(watch, BufferedWatch) or isinstance(watch, LocalWatch) else None  # noqa: SIM101
            self._ready = True
            if self._watch is not None:
                self._watch.on_events(self._notify_pending)
                if self._watch.has_events:
                    self._notify_pending()
            self._moved.notify()
            try:
                async for batch in watch:
                    self._apply(batch)
            finally:
                self._watch = None

    async def _load(self) -> None:
        found = await self._store.range(self.prefix, self._end, count=False)
        revision, rows = found.revision, list(found.items)
        del found
        self.unreadable.clear()
        records: list[Record] = []
        for start in range(0, len(rows), _LOAD_CHUNK):
            chunk = slice(start, start + _LOAD_CHUNK)
            records += self._records_of(rows[chunk])
            rows[chunk] = [_TAKEN] * len(rows[chunk])  # records hold copies of the bytes; free the rows
            await asyncio.sleep(0)
        self._records = SortedRecords(records)
        self._snapshots.clear()
        self.ring.reset(revision)
        self._revision = self._changed = revision
        self._listed = True
        self.counts.loads += 1
        self.counts.stored_list(len(records), len(records))
        self._groups.end_all(CacheReset(f"the watch cache of {self.prefix} has listed the store again"))
        self._notify()

    def _apply(self, batch: EventBatch) -> None:
        if batch.events:
            made = [self._event(e) for e in batch.events if e.revision > self._revision]
            events = [event for event in made if event is not None]
            self.ring.extend(events)
            self.counts.events += len(events)
            self._revision = max(self._revision, batch.revision)
            if events:
                self._changed = events[-1].revision
            self._groups.dispatch(events)
            self._notify()
        else:
            self._revision = max(self._revision, batch.revision)
        self._moved.notify()

    def _notify(self) -> None:
        for listener in self.listeners:
            listener()

    def _notify_pending(self) -> None:
        for listener in self.pending_listeners:
            listener()

    def _event(self, stored: StoreEvent) -> CacheEvent | None:
        previous = self._records.get(stored.key)
        if self.unreadable:  # a new value, or none, replaces the unreadable one
            self.unreadable.pop(stored.key, None)
        event = self._made(stored, previous)
        if event is not None:
            if event.type == "DELETED":
                self._records.remove(stored.key)
            else:
                self._records.put(event.record)
        return event

    def _made(self, stored: StoreEvent, previous: Record | None) -> CacheEvent | None:
        record = None if stored.value is None else self._record(_row(stored, stored.value))
        if record is not None:
            return CacheEvent("ADDED" if previous is None else "MODIFIED", record, previous, stored.revision, {})
        if previous is None:
            return None
        return CacheEvent("DELETED", self._respliced(previous, stored.revision), previous, stored.revision, {})

    def _records_of(self, rows: Sequence[KeyValue]) -> Sequence[Record]:
        return [record for record in map(self._record, rows) if record is not None]

    def _record(self, row: KeyValue) -> Record | None:
        """Return the record of a row, or None if it cannot be read.

        The fault is logged: one bad row must not stop the cache.
        """
        try:
            return self._extract(row)
        except Exception:
            if self.unreadable.note(row):
                _log.error("cannot read a value at revision %d: %s", row.mod_revision, self.unreadable[row.key])
                return None
            _log.exception("cannot read the value of %s at revision %d", row.key, row.mod_revision)
            return None

    def stored_record(self, row: KeyValue) -> Record:
        """Return the record of a row of the store's history. Raises `Untransformable`, `UNREADABLE`."""
        fault = fault_of(row)
        if fault:
            raise Untransformable(fault)
        return self._extract(row)

    def _initial(self, scope: str, matches: Matches) -> Sequence[Delivery]:
        if scope.endswith("/"):
            records: Sequence[Record] = self._records.page(scope, "", 0, matches, 0).records
        else:
            single = self._records.get(scope)
            records = [single] if single is not None and (matches is None or matches(single)) else []
        self.counts.begun += len(records)
        return InitialEvents(records)

    def _snapshot(self, revision: int) -> SortedRecords:
        snapshot = self._snapshots.get(revision)
        if snapshot is None:
            events = self.ring.newest_first(revision)
            if not events:
                return self._records
            snapshot = SortedRecords(undone(self._records.all(self.prefix), events))
            if len(self._snapshots) >= _SNAPSHOTS_MAX:
                del self._snapshots[next(iter(self._snapshots))]
            self._snapshots[revision] = snapshot
        return snapshot

    async def _list_stored(self, revision: int, prefix: str, after_key: str, limit: int, matches: Matches) -> Page:
        start = max(prefix, after_key + "\0") if after_key else prefix
        end = prefix_end(prefix)
        if matches is None:
            found = await self._store.range(start, end, limit=limit, revision=revision)
            records = self._records_of(found.items)
            self.counts.stored_list(len(found.items), len(records))
            return Page(records, found.more, found.count - len(found.items), revision)
        chosen: list[Record] = []
        size = limit
        while True:
            found = await self._store.range(start, end, limit=size, revision=revision, count=False)
            matching = [record for record in self._records_of(found.items) if matches(record)]
            self.counts.stored_list(len(found.items), len(matching))
            chosen += matching
            if not found.more or (limit and len(chosen) > limit):
                return select_page(chosen, limit, None, revision)
            start = found.items[-1].key + "\0"
            size = min(size * 2, _FETCH_MAX)

    async def _bridge(self, after: int) -> tuple[Sequence[CacheEvent], int]:
        # The list may be newer than the last event. The store learns of writes by other servers only from this request.
        await self._store.revision()
        async with self._store.watch(self.prefix, self._end, after) as watch:
            async for batch in watch:
                return list(self._past_events(batch)), batch.revision
        raise CacheReset(f"the store of {self.prefix} has closed")

    def _past_events(self, batch: EventBatch) -> Iterator[CacheEvent]:
        for stored in batch.events:
            event = self._made(stored, None if stored.previous is None else self._record(stored.previous))
            if event is not None:
                yield event


def _row(stored: StoreEvent, value: bytes) -> KeyValue:
    created = stored.revision if stored.previous is None else stored.previous.create_revision
    return KeyValue(stored.key, value, created, stored.revision)
