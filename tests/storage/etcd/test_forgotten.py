"""etcd compacts events that a watch has not sent yet, and reports it late, or never."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from sampan.storage.broadcaster import WatchBroadcaster
from sampan.storage.etcd import EtcdSettings, history_reader, prefix_watch
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.stream import CompactedInEtcd, WatchEndedByEtcd
from sampan.storage.etcd.history_reader import HistoryReader
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.etcd.prefix_watch import PrefixWatch
from sampan.storage.etcd.reads import Reads
from sampan.storage.store import Compacted, prefix_end
from tests.storage.etcd.conftest import OpenStore
from tests.storage.etcd.fake import FakeEtcd, serving

PODS = "/registry/pods/"
KEYS = PrefixedKeys("/registry")
DEADLINE_S = 30.0


async def never(request: Any, context: Any) -> Any:
    raise AssertionError("nothing is written")


class Forgetful(FakeEtcd):
    """At revision 100, and has forgotten all before; its first answers to reads are that it is away."""

    def __init__(self, away: int) -> None:
        super().__init__(never)
        self.away = away

    async def range(self, request: Any, context: Any) -> Any:
        if self.away:
            self.away -= 1
            await context.abort(grpc.StatusCode.UNAVAILABLE, "etcdserver: no leader")
        reply = await super().range(request, context)
        reply.header.revision = 100
        return reply

    async def watch(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        async for response in super().watch(requests, context):
            yield response
            yield messages.WATCH.response(canceled=True, compact_revision=100)


class Skipping(FakeEtcd):
    """Sends only new events to a watch, and does not report that older ones are compacted."""

    async def range(self, request: Any, context: Any) -> Any:
        if request.revision:
            await context.abort(grpc.StatusCode.OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted")
        reply = await super().range(request, context)
        reply.header.revision = 300
        return reply

    async def watch(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        async for request in requests:
            if request.HasField("create_request"):
                yield messages.WATCH.response(created=True, watch_id=request.create_request.watch_id)
                reported = messages.WATCH.response()
                event = reported.events.add()
                event.kv.key, event.kv.mod_revision, event.kv.create_revision = PODS.encode() + b"a", 200, 200
                yield reported


class Silent(FakeEtcd):
    """Confirms watches, and sends no events."""

    async def watch(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        async for request in requests:
            if request.HasField("create_request"):
                yield messages.WATCH.response(created=True, watch_id=request.create_request.watch_id)


@pytest.mark.parametrize("kind", [0, messages.DELETE], ids=["update", "deletion"])
def test_an_event_without_what_was_before_it_was_forgotten(kind: int) -> None:
    response = messages.WATCH.response()
    event = response.events.add(type=kind)
    event.kv.key, event.kv.mod_revision, event.kv.create_revision = PODS.encode() + b"a", 7, 0 if kind else 3
    with pytest.raises(CompactedInEtcd):
        KEYS.events(response.events, 6)


async def test_the_prefix_watch_continues_when_etcd_is_away_just_as_it_has_forgotten() -> None:
    broadcaster = WatchBroadcaster(None)
    broadcaster.revision = 5
    async with serving(Forgetful(away=20)) as url:
        client = EtcdClient(EtcdSettings((url,), attempt_s=0.2, total_s=0.2))
        following = PrefixWatch(client, broadcaster, KEYS, Reads(client, KEYS))
        task = asyncio.create_task(following.run())
        assert await following.reach(100, DEADLINE_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()


async def test_a_client_that_may_have_slept_requests_whether_all_is_there_that_came_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prefix_watch, "_SUSPENDED_S", 0.0)
    broadcaster = WatchBroadcaster(None)
    broadcaster.revision = 5
    watch = broadcaster.watch(PODS, prefix_end(PODS), 5)
    broadcaster.add(watch)
    async with serving(Skipping(never)) as url:
        client = EtcdClient(EtcdSettings((url,)))
        following = PrefixWatch(client, broadcaster, KEYS, Reads(client, KEYS))
        task = asyncio.create_task(following.run())
        assert await following.reach(300, DEADLINE_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()
    assert not watch.has_events


async def test_a_watch_of_an_old_revision_without_responses_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_reader, "_SILENCE_MAX_S", 0.3)
    async with serving(Silent(never)) as url:
        client = EtcdClient(EtcdSettings((url,)))
        silent = HistoryReader(client, KEYS, (PODS, prefix_end(PODS)), 5)
        with pytest.raises(WatchEndedByEtcd):
            await silent.next(50)
        await silent.close()
        await client.close()


async def test_a_compaction_during_a_read_of_history_is_an_error(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store()
    first = await store.create(f"{PODS}a", b"1")
    await store.delete(f"{PODS}a", first)
    read = HistoryReader.next

    async def forgotten(self: HistoryReader, until: int) -> Any:
        batch = await read(self, until)
        await store.compact(await store.create(f"{PODS}{until}", b"2"))
        return batch

    monkeypatch.setattr(HistoryReader, "next", forgotten)
    async with store.watch(PODS, prefix_end(PODS), first) as watch:
        with pytest.raises(Compacted):
            await anext(watch)
