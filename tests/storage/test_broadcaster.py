"""The broadcaster's watches, apart from any engine."""

import asyncio

from sampan.storage.broadcaster import WatchBroadcaster
from sampan.storage.store import EventBatch, StoreEvent

PODS = "/registry/pods/"
EVENTS = [StoreEvent(revision, f"{PODS}{revision}", b"", None) for revision in range(1, 5)]


def history(start: str, end: str, after: int, until: int) -> EventBatch:
    return EventBatch(EVENTS[after:until], until)


async def test_a_watch_that_is_polled_just_after_it_fell_behind_misses_nothing() -> None:
    broadcaster = WatchBroadcaster(history, buffer_max=1)
    async with broadcaster.watch(PODS, "/registry/pods0", 0) as watch:
        waiting = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0)
        broadcaster.dispatch(EVENTS[:3], 3)
        assert watch.poll() is None
        broadcaster.dispatch(EVENTS[3:], 4)
        assert await waiting == EventBatch(EVENTS[:3], 3)
        assert await anext(watch) == EventBatch(EVENTS[3:], 4)
