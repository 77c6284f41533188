"""`Compactor`: compacts the history of a store at intervals, by its age and its size."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from math import ceil
from typing import NamedTuple, Protocol, runtime_checkable

from sampan.storage.history.settings import HistorySettings
from sampan.storage.store import Compacted, Store

_log = logging.getLogger(__name__)


@runtime_checkable
class SharedStore(Protocol):
    """Store that several servers write to."""

    async def claim_compaction(self, revision: int) -> bool:
        """Return True if this server must compact to `revision` in this interval."""


class _Mark(NamedTuple):
    """Revision of the store at the end of an interval, and the size of the values that the interval superseded."""

    revision: int
    size_bytes: int


class Compactor:
    """Compacts the store every `interval_s` seconds, to the newest revision that is older than the retention.

    So the history covers at least the retention and at most one interval more, counted from the start of this process.
    If it is larger than the limit, its oldest intervals are compacted first. If several servers share the store, one of
    them compacts in each interval.

    Source: apiserver storage/etcd3/compact.go (1.36).
    """

    def __init__(
        self,
        store: Store,
        *,
        history: HistorySettings = HistorySettings(),
        interval_s: float = 0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """`interval_s` 0: that of `history`. `sleep` waits for the interval; tests inject a clock here."""
        self._store = store
        # The check of a protocol takes long.
        self._shared = store if isinstance(store, SharedStore) else None
        self._interval_s = interval_s or history.interval_s
        self._bytes_max = history.bytes_max
        self._sleep = sleep
        self._marks_max = max(ceil(history.retention_s / self._interval_s), 1)
        self._marks: deque[_Mark] = deque()
        self._size_bytes = 0
        self._newest = 0
        self._then = 0

    async def run(self) -> None:
        """Compact until cancelled. An engine's error is logged, and the next interval tries again."""
        while True:
            try:
                await self._interval()
            except Exception:
                _log.warning("compaction to revision %d failed", self._then, exc_info=True)
            await self._sleep(self._interval_s)

    async def _interval(self) -> None:
        """Compact to the newest mark that need not be kept, then mark the current revision."""
        now = await self._store.revision()
        size = await self._superseded(now)
        self._then = then = self._due(size)
        if then and (self._shared is None or await self._shared.claim_compaction(then)):
            try:
                await self._store.compact(then)
            except Compacted:
                _log.debug("revision %d is compacted already", then)
        self._forget(then)
        self._marks.append(_Mark(now, size))
        self._size_bytes += size
        self._newest = now

    async def _superseded(self, now: int) -> int:
        """Return the size of the values that were superseded since the newest mark."""
        if not self._bytes_max or now == self._newest:
            return 0
        return await self._store.superseded_bytes(self._newest, now) or 0

    def _due(self, size: int = 0) -> int:
        """Return the revision to compact to; 0: none. `size`: size of the interval that has no mark yet."""
        due, left = 0, self._size_bytes + size
        for index, mark in enumerate(self._marks):
            is_old = len(self._marks) - index >= self._marks_max
            left -= mark.size_bytes
            is_too_large = self._bytes_max and left + mark.size_bytes > self._bytes_max
            if not (is_old or is_too_large):
                break
            due = mark.revision
        return due

    def _forget(self, until: int) -> None:
        """Drop the marks up to a revision."""
        while self._marks and self._marks[0].revision <= until:
            self._size_bytes -= self._marks.popleft().size_bytes
