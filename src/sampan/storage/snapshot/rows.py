"""`Rows`: source of a snapshot or a copy, independent of the engine."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from sampan.storage.snapshot.format import Row
from sampan.storage.store import KeyValue, Store

PAGE = 500
START, END = "\0", "\U0010ffff"
"""Range that contains every key."""

ExpiresAt = Callable[[KeyValue], float]
"""Returns the time at which a row expires, in seconds since the epoch (0: never), if the store does not know it."""


@dataclass(frozen=True, slots=True)
class RowSnapshot:
    """All rows of a store at `revision`, `count` of them, in key order and in batches."""

    revision: int
    count: int
    pages: AsyncIterator[Sequence[Row]]


class Rows(Protocol):
    """Source of rows."""

    engine: str

    def state(self) -> AbstractAsyncContextManager[RowSnapshot]:
        """Return the rows at one revision. Reading them does not block writers.

        Raises `Compacted`, also during the iteration, if that revision is compacted.
        """


def never(row: KeyValue) -> float:
    """Return 0: the row does not expire."""
    return 0


class StoreRows:
    """Rows of any open store, read in pages at the revision of the first page."""

    def __init__(
        self, store: Store, engine: str, *, expires_at: ExpiresAt = never, start: str = START, end: str = END
    ) -> None:
        self.engine = engine
        self._store = store
        self._expires_at = expires_at
        self._start = start
        self._end = end

    @asynccontextmanager
    async def state(self) -> AsyncIterator[RowSnapshot]:
        """Return the rows at one revision."""
        counted = await self._store.range(self._start, self._end, limit=1)
        yield RowSnapshot(counted.revision, counted.count, self._pages(counted.revision))

    async def _pages(self, revision: int) -> AsyncIterator[Sequence[Row]]:
        start, more = self._start, True
        while more:
            found = await self._store.range(start, self._end, limit=PAGE, revision=revision, count=False)
            if found.items:
                yield [Row(*row, self._expires_at(row)) for row in found.items]
                start = found.items[-1].key + "\0"
            more = found.more
