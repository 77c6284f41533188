"""`RecentRows`: bounded cache of recently written rows.

Rows are often written again soon, and the event of a write contains the row before it.
"""

from collections.abc import Callable

from sampan.storage.store import KeyValue

_SIZE_BYTES_MAX = 32 << 20
_OVERHEAD_BYTES = 400


class RecentRows:
    """Cache that evicts the least recently written rows. `read` reads the row of a revision from disk."""

    __slots__ = ("_read", "_rows", "_size", "_size_max")

    def __init__(self, read: Callable[[int], KeyValue], size_bytes_max: int = _SIZE_BYTES_MAX) -> None:
        self._read = read
        self._rows: dict[str, KeyValue] = {}
        self._size = 0
        self._size_max = size_bytes_max

    def row(self, key: str, revision: int) -> KeyValue:
        """Return the row of a key at this revision, from the cache or from the database."""
        row = self._rows.get(key)
        return row if row is not None and row.mod_revision == revision else self._read(revision)

    def keep(self, row: KeyValue) -> None:
        """Cache a row."""
        rows = self._rows
        self.forget(row.key)
        rows[row.key] = row
        self._size += len(row.value) + _OVERHEAD_BYTES
        while self._size > self._size_max:
            self.forget(next(iter(rows)))

    def forget(self, key: str) -> None:
        """Remove a row from the cache."""
        row = self._rows.pop(key, None)
        if row is not None:
            self._size -= len(row.value) + _OVERHEAD_BYTES
