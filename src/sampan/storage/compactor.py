"""`Compactor`: compacts the history of a store at intervals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from sampan.storage.store import Compacted, Store

_log = logging.getLogger(__name__)


@runtime_checkable
class SharedStore(Protocol):
    """Store that several servers write to."""

    async def claim_compaction(self, revision: int) -> bool:
        """Return True if this server must compact to `revision` in this interval."""


class Compactor:
    """Compacts the store every `interval_s` seconds, to the revision that the store had one interval ago.

    So the history covers at least the last interval and at most the last two. If several servers share the store, one
    of them compacts in each interval.

    Source: apiserver storage/etcd3/compact.go (1.36).
    """

    def __init__(
        self, store: Store, *, interval_s: float = 300, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """`sleep` waits for the interval; tests inject a clock here."""
        self._store = store
        # The check of a protocol takes long.
        self._shared = store if isinstance(store, SharedStore) else None
        self._interval_s = interval_s
        self._sleep = sleep

    async def run(self) -> None:
        """Compact until cancelled. An engine's error is logged, and the next interval tries again."""
        then = 0
        while True:
            try:
                then = await self._interval(then)
            except Exception:
                _log.warning("compaction to revision %d failed", then, exc_info=True)
            await self._sleep(self._interval_s)

    async def _interval(self, then: int) -> int:
        """Compact to `then`, the revision of one interval ago (0: unknown). Return the current revision."""
        now = await self._store.revision()
        if then and (self._shared is None or await self._shared.claim_compaction(then)):
            try:
                await self._store.compact(then)
            except Compacted:
                return now
        return now
