"""`Compactor`: forgets history in time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from sampan.storage.store import Compacted, Store

_log = logging.getLogger(__name__)


@runtime_checkable
class SharedStore(Protocol):
    """What a store that several servers write to does besides."""

    async def take_turn(self, revision: int) -> bool:
        """Whether this server is the one to compact, to the revision, in this interval."""


class Compactor:
    """Every `interval_s` seconds, compacts the store to the revision that it had one interval ago.

    So the history of the last interval is always there, and that of the last two at most. Of several servers on one
    store, one does so in each interval.
    Source: apiserver storage/etcd3/compact.go (1.36).
    """

    def __init__(
        self, store: Store, *, interval_s: float = 300, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        """`sleep` is the clock that the interval is measured by."""
        self._store = store
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
        """Forget what was there one interval ago, if that is known (not 0); gives the revision of now."""
        now = await self._store.revision()
        if then and (not isinstance(self._store, SharedStore) or await self._store.take_turn(then)):
            try:
                await self._store.compact(then)
            except Compacted:
                return now
        return now
