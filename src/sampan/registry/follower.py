"""`Follower`: changes in a watch cache since the last poll, for state that is derived from its objects.

Concurrency: no tasks. `poll` first applies the store's pending events, so it includes every acknowledged write.
"""

from collections.abc import Callable

from sampan.storage.cache import WatchCache
from sampan.storage.records import Record

Apply = Callable[[str, Record | None], None]
"""Apply a key and its newest record; None: the object was deleted."""


class Follower:
    """Calls `apply` for each object that is new, changed or deleted since the last poll. In the first poll, all objects
    are new.

    A poll costs less than a microsecond while nothing changes, otherwise time in proportion to the changes.
    It raises `Untransformable` if an object cannot be read; with `only_readable` it skips the object.
    """

    def __init__(self, cache: WatchCache, apply: Apply, *, only_readable: bool = False) -> None:
        self._cache = cache
        self._apply = apply
        self._only_readable = only_readable
        self._seen = -1
        self._records: dict[str, Record] = {}

    def poll(self) -> bool:
        """Apply the changes since the last poll; return whether there were any."""
        cache = self._cache
        cache.poll_events()
        if cache.changed == self._seen:
            return False
        events = cache.events_after(self._seen) if self._seen >= 0 else None
        if events is None:
            self._compare()
        else:
            for event in events:
                self._take(event.record.key, None if event.type == "DELETED" else event.record)
        self._seen = cache.changed
        return True

    def _compare(self) -> None:
        """Compare all records, because the cache no longer has all events since the last poll."""
        cache = self._cache
        records = cache.readable() if self._only_readable else cache.list(cache.prefix).records
        present = {record.key: record for record in records}
        for key in [key for key in self._records if key not in present]:
            self._take(key, None)
        for key, record in present.items():
            known = self._records.get(key)
            if known is None or known.revision != record.revision:
                self._take(key, record)

    def _take(self, key: str, record: Record | None) -> None:
        if record is None:
            self._records.pop(key, None)
        else:
            self._records[key] = record
        self._apply(key, record)
