"""Servers on one etcd know how far it is compacted, whichever of them did it."""

import asyncio
from typing import NoReturn

import pytest

from sampan.storage.etcd import EtcdSettings, compaction
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.stream import WatchEndedByEtcd
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import Compacted
from tests.storage.cached import PODS, key, pod, running
from tests.storage.etcd.conftest import OpenStore
from tests.storage.etcd.server import Member

DEADLINE_S = 30.0


async def until_compacted(store: EtcdStore, revision: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while store.compacted != revision:
            await store.revision()
            await asyncio.sleep(0.01)


async def test_a_revision_compacted_by_one_server_is_not_listed_from_memory_by_another(
    open_store: OpenStore,
) -> None:
    one, other = await open_store(), await open_store()
    async with running(other) as cache:
        first = await one.create(key("1"), pod("1"))
        second = await one.create(key("2"), pod("2"))
        await cache.fresh()
        assert len((await cache.list_at(first, PODS)).records) == 1
        assert await one.claim_compaction(second)
        await one.compact(second)
        await until_compacted(other, second)
        with pytest.raises(Compacted):
            await cache.list_at(first, PODS)


async def test_a_server_that_comes_later_has_how_far_it_was_compacted(open_store: OpenStore) -> None:
    one = await open_store()
    assert await one.claim_compaction(7)
    later = await open_store()
    await until_compacted(later, 7)


async def test_how_far_it_is_compacted_is_received_after_etcd_was_away(
    open_store: OpenStore, etcd: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_BACKOFF_S", (0.01, 0.01))
    one, other = await open_store(), await open_store()
    assert await one.claim_compaction(7)
    await until_compacted(other, 7)
    etcd.stop()
    etcd.start([etcd])
    etcd.wait()
    assert await one.claim_compaction(8)
    await until_compacted(other, 8)


async def test_a_client_that_may_not_learn_of_compactions_requests_ever_less_often(etcd: Member) -> None:
    class Enough(Exception):
        pass

    class Refused(EtcdClient):
        def watch(self, *_: object, **__: object) -> NoReturn:
            raise WatchEndedByEtcd("etcdserver: permission denied")

    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 8:
            raise Enough

    client = Refused(EtcdSettings((etcd.url,)))
    with pytest.raises(Enough):
        await compaction.CompactionCoordinator(client).follow(sleep)
    await client.close()
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
