"""Detection of writes to a resource since the last look."""

import asyncio

from sampan.server.admission.change_detector import ChangeDetector
from sampan.storage.cache import WatchCache
from tests.server.cluster import served
from tests.server.several.servers import Server, several

NAMESPACES = "/api/v1/namespaces"


async def test_a_change_is_detected_at_once_and_once() -> None:
    async with served() as api:
        watched = ChangeDetector(api.cluster, ("", "namespaces"), ("", "secrets"))
        assert [watched.has_changed() for _ in range(2)] == [True, False]
        await api.create(NAMESPACES, {"metadata": {"name": "a"}})
        assert [watched.has_changed() for _ in range(2)] == [True, False]
        await api.create(f"{NAMESPACES}/a/configmaps", {"metadata": {"name": "a"}})
        assert not watched.has_changed()


async def test_a_change_received_after_a_newer_one_is_detected() -> None:
    async with several(2) as (a, b):
        watched = ChangeDetector(b.cluster, ("", "namespaces"), ("", "secrets"))
        b.late.held = True
        older, newer = _cache(b, "namespaces"), _cache(b, "secrets")
        await a.create(NAMESPACES, {"metadata": {"name": "a"}})
        before = older.changed
        await a.create(f"{NAMESPACES}/default/secrets", {"metadata": {"name": "a"}})
        watched.has_changed()
        for cache in (newer, older):
            await _receive(b, cache)
            assert watched.has_changed()
        assert older.changed > before
        b.late.held = False


def _cache(server: Server, resource: str) -> WatchCache:
    definition = server.cluster.registry.get("", resource)
    assert definition is not None
    return server.cluster.caches[definition.storage_prefix]


async def _receive(server: Server, cache: WatchCache) -> None:
    """Deliver missed events to this cache alone."""
    changed = cache.changed
    async with asyncio.timeout(30):
        while cache.changed == changed:
            server.late.receive(cache.prefix)
            await asyncio.sleep(0)
