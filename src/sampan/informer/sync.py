"""Wait for caches to sync.

Source: client-go tools/cache/shared_informer.go `WaitForCacheSync` (1.36).
"""

import asyncio
from typing import Protocol


class Syncable(Protocol):
    """An informer, or a handler's registration."""

    def has_synced(self) -> bool:
        """Return True if the first list has been processed."""
        ...

    async def synced(self) -> None:
        """Wait until the first list has been processed."""
        ...


async def wait_for_cache_sync(*caches: Syncable, timeout_s: float | None = None) -> None:
    """Wait until all caches have synced. Raises `TimeoutError`, which names those that have not."""
    try:
        async with asyncio.timeout(timeout_s):
            for cache in caches:
                await cache.synced()
    except TimeoutError:
        late = ", ".join(str(cache) for cache in caches if not cache.has_synced())
        raise TimeoutError(f"caches did not sync in {timeout_s:g} s: {late}") from None
