"""A watch cache over a store, run for a test; objects are small pods with one label."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sampan.storage.cache import WatchCache
from sampan.storage.encoding import encode, extractor, respliced_record
from sampan.storage.records import Batch, Record
from sampan.storage.store import Store
from sampan.storage.watcher import Watcher

PODS = "/registry/pods/"


def key(name: str, namespace: str = "a") -> str:
    """The key of a pod."""
    return f"{PODS}{namespace}/{name}"


def pod(name: str, namespace: str = "a", app: str = "x") -> bytes:
    """The stored value of a pod."""
    metadata = {"name": name, "namespace": namespace, "uid": name, "labels": {"app": app}}
    return encode({"kind": "Pod", "apiVersion": "v1", "metadata": metadata})


def app_is_x(record: Record) -> bool:
    """A selector."""
    return record.labels.get("app") == "x"


@asynccontextmanager
async def running(store: Store, **settings: Any) -> AsyncIterator[WatchCache]:
    """A cache that is ready, and stops with the context."""
    cache = WatchCache(store, PODS, extractor(), respliced_record, backoff_s=(0.001, 0.01), **settings)
    task = asyncio.create_task(cache.run())
    try:
        assert await cache.wait_ready(10)
        yield cache
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def take(watcher: Watcher) -> Batch:
    """Return the next batch of events, including pending ones."""
    watcher._cache.poll()
    return await watcher.next(5)


def shape(batch: Batch) -> list[tuple[str, str, int]]:
    """Types, names and revisions of a batch."""
    return [(type_, event.record.name, event.record.revision) for type_, event in batch.events]
