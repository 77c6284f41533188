"""`Rows`: what a snapshot or a copy is made of, whatever engine it comes from."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from sampan.storage.snapshot.format import Row
from sampan.storage.store import KeyValue, Store

PAGE = 500
START, END = "\0", "\U0010ffff"
"""The range that holds every key."""

ExpiresAt = Callable[[KeyValue], float]
"""When a row expires, in seconds since the epoch (0: never), for stores that do not say."""


@dataclass(frozen=True, slots=True)
class State:
    """All rows of a store at `revision`, `count` of them, in key order, some at a time."""

    revision: int
    count: int
    pages: AsyncIterator[Sequence[Row]]


class Rows(Protocol):
    """Where rows come from."""

    engine: str

    def state(self) -> AbstractAsyncContextManager[State]:
        """The rows at one revision; writers are not held up while they are read.

        Raises `Compacted` (also while they are read) when that revision is forgotten before the end.
        """


def never(row: KeyValue) -> float:
    """No row expires."""
    return 0


class StoreRows:
    """The rows of any open store, read in pages at the revision of the first."""

    def __init__(
        self, store: Store, engine: str, *, expires_at: ExpiresAt = never, start: str = START, end: str = END
    ) -> None:
        self.engine = engine
        self._store = store
        self._expires_at = expires_at
        self._start = start
        self._end = end

    @asynccontextmanager
    async def state(self) -> AsyncIterator[State]:
        """See `Rows.state`."""
        counted = await self._store.range(self._start, self._end, limit=1)
        yield State(counted.revision, counted.count, self._pages(counted.revision))

    async def _pages(self, revision: int) -> AsyncIterator[Sequence[Row]]:
        start, more = self._start, True
        while more:
            found = await self._store.range(start, self._end, limit=PAGE, revision=revision, count=False)
            if found.items:
                yield [Row(*row, self._expires_at(row)) for row in found.items]
                start = found.items[-1].key + "\0"
            more = found.more
