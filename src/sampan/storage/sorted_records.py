"""`SortedRecords`: the current state of one resource, in key order. Lists are slices."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from sampan.storage.records import CacheEvent, Matches, Page, Record
from sampan.storage.store import prefix_end

_SLICES_MAX = 64
_SAMPLES_MAX = 1000


class SortedRecords:
    """Records by key, with a sorted list of the keys and a list of the records in the same order.

    The keys of a namespace are adjacent, so a list of a namespace is a slice too. Slices are cached until a write in
    their scope. Repeated lists without writes return the same list.
    """

    __slots__ = ("_keys", "_records", "_slices", "_sorted")

    def __init__(self, records: Iterable[Record] = ()) -> None:
        """`records` must be in key order."""
        self._sorted = list(records)
        self._keys = [record.key for record in self._sorted]
        self._records = dict(zip(self._keys, self._sorted, strict=True))
        self._slices: dict[str, list[Record]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def size_bytes(self) -> int:
        """Approximate size of the values, from a sample. May be read from another thread."""
        samples = self._sorted[:: len(self._sorted) // _SAMPLES_MAX + 1]
        return sum(len(record.value) for record in samples) * len(self._sorted) // max(len(samples), 1)

    def get(self, key: str) -> Record | None:
        """Return the record, or None."""
        return self._records.get(key)

    def put(self, record: Record) -> None:
        """Add or replace a record."""
        key = record.key
        at = bisect_left(self._keys, key)
        if key in self._records:
            self._sorted[at] = record
        else:
            self._keys.insert(at, key)
            self._sorted.insert(at, record)
        self._records[key] = record
        self._forget_slices(key)

    def remove(self, key: str) -> None:
        """Remove the record, if it exists."""
        if self._records.pop(key, None) is not None:
            at = bisect_left(self._keys, key)
            del self._keys[at]
            del self._sorted[at]
            self._forget_slices(key)

    def all(self, prefix: str) -> list[Record]:
        """Return all records under the prefix. The caller must not change the list."""
        records = self._slices.get(prefix)
        if records is None:
            low, high = self._run(prefix)
            if len(self._slices) >= _SLICES_MAX:
                self._slices.clear()
            records = self._slices[prefix] = self._sorted[low:high]
        return records

    def page(self, prefix: str, after_key: str, limit: int, matches: Matches, revision: int) -> Page:
        """Return up to `limit` (0: all) selected records under the prefix, after `after_key`."""
        if not after_key and not limit:
            records = self.all(prefix)
            if matches is not None:
                records = [record for record in records if matches(record)]
            return Page(records, False, 0 if matches is None else None, revision)
        low, high = self._run(prefix)
        if after_key:
            low = max(low, bisect_right(self._keys, after_key))
        if matches is None:
            end = min(low + limit, high) if limit else high
            return Page(self._sorted[low:end], end < high, max(high - end, 0), revision)
        return select_page(self._sorted[low:high], limit, matches, revision)

    def _run(self, prefix: str) -> tuple[int, int]:
        return bisect_left(self._keys, prefix), bisect_left(self._keys, prefix_end(prefix))

    def _forget_slices(self, key: str) -> None:
        if self._slices:
            for prefix in [prefix for prefix in self._slices if key.startswith(prefix)]:
                del self._slices[prefix]


def select_page(records: Sequence[Record], limit: int, matches: Matches, revision: int) -> Page:
    """Return the first `limit` (0: all) matching records. `more` is True if another one matches."""
    chosen: list[Record] = []
    for record in records:
        if matches is None or matches(record):
            if limit and len(chosen) == limit:
                return Page(chosen, True, None, revision)
            chosen.append(record)
    return Page(chosen, False, None, revision)


def undone(records: Sequence[Record], newest_first: Sequence[CacheEvent]) -> list[Record]:
    """Return the records as they were before these events."""
    state = {record.key: record for record in records}
    for event in newest_first:
        if event.previous is None:
            del state[event.record.key]
        else:
            state[event.record.key] = event.previous
    return [state[key] for key in sorted(state)]
