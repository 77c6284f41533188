"""Several servers on one etcd, and etcd's own ways: freshness, prefixes, compaction turns, leases, room."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.storage.broadcaster import LocalWatch
from sampan.storage.compactor import SharedStore
from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.leases import OBJECTS_MAX, Lease, Leases
from sampan.storage.etcd.progress import has_reliable_progress
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import Compacted, StoreFull, prefix_end
from tests.storage.cached import PODS, key, pod, running
from tests.storage.conftest import Clock
from tests.storage.etcd.conftest import OpenStore
from tests.storage.etcd.server import EtcdPool, Member, started

END = prefix_end(PODS)
A = key("a")


async def test_a_write_through_one_server_is_in_the_next_list_through_another(open_store: OpenStore) -> None:
    one, other = await open_store(), await open_store()
    async with running(other) as cache:
        for number in range(50):
            await one.create(key(str(number)), pod(str(number)))
            await cache.fresh()
            assert len(cache.list(PODS).records) == number + 1


async def test_one_of_many_concurrent_writes_of_two_servers_succeeds(open_store: OpenStore) -> None:
    stores = [await open_store(), await open_store()]
    revision = await stores[0].create(A, b"0")
    results = await asyncio.gather(
        *(stores[n % 2].update(A, b"%d" % n, revision) for n in range(20)), return_exceptions=True
    )
    assert sum(isinstance(result, int) for result in results) == 1


async def test_the_revision_is_fresh_though_it_is_of_a_write_that_no_watch_sees(
    etcd: Member, open_store: OpenStore
) -> None:
    store = await open_store()
    client = EtcdClient(EtcdSettings((etcd.url,)))
    response = await client.call(messages.PUT, messages.PutRequest(key=b"elsewhere", value=b"1"))
    await client.close()
    async with store.watch(PODS, END, 1) as watch:
        assert isinstance(watch, LocalWatch)
        revision = await store.revision()
        batch = watch.poll()
    assert revision >= response.header.revision
    assert batch is not None
    assert batch.revision >= revision
    assert list(batch.events) == []


async def test_prefixes_keep_clusters_apart(open_store: OpenStore) -> None:
    one, other = await open_store(prefix="/one"), await open_store(prefix="/other")
    await other.create(A, b"other's")
    revision = await one.create(A, b"one's")
    row = await one.get(A)
    assert row is not None
    assert (row.key, row.value) == (A, b"one's")
    assert [row.value for row in (await other.range("", "\U0010ffff")).items] == [b"other's"]
    async with one.watch(PODS, END, 1) as watch:
        batch = await anext(watch)
    assert [(event.key, event.revision) for event in batch.events] == [(A, revision)]


async def test_a_watch_whose_events_were_forgotten_while_it_was_away_is_reported(etcd: Member, tmp_path: Path) -> None:
    store = EtcdStore(EtcdSettings((etcd.url,)))
    await store.open()
    async with store.watch(PODS, END, 1) as watch:
        await store._tasks.aclose()
        other = EtcdStore(EtcdSettings((etcd.url,)))
        await other.open()
        revision = await other.create(A, b"1")
        await other.compact(await other.update(A, b"2", revision))
        await other.close()
        store._tasks.begin(store._watch.run())
        with pytest.raises(Compacted):
            async with asyncio.timeout(60):
                await anext(watch)
        async with store.watch(PODS, END, await store.revision()) as live:
            await store.create(key("b"), b"1")
            assert [event.key for event in (await anext(live)).events] == [key("b")]
    await store.close()


async def test_large_responses_come_in_pieces_and_are_one_batch(open_store: OpenStore) -> None:
    store = await open_store()
    value = b"x" * 1_000_000
    for number in range(4):
        await store.create(key(str(number)), value)
    observed = 0
    async with asyncio.timeout(60), store.watch(PODS, END, 1) as watch:
        while observed < 4:
            observed += len((await anext(watch)).events)
    assert observed == 4


async def test_of_several_servers_one_compacts_in_each_interval(open_store: OpenStore) -> None:
    stores = [await open_store() for _ in range(3)]
    assert all(isinstance(store, SharedStore) for store in stores)
    iterations = [[await store.claim_compaction(1) for store in stores] for _ in range(4)]
    assert [sum(interval) for interval in iterations] == [1, 1, 1, 1]


async def test_rows_share_a_lease_for_a_while(etcd: Member, clock: Clock) -> None:
    client = EtcdClient(EtcdSettings((etcd.url,)))
    leases = Leases(client, clock)
    first = await leases.take(3600)
    clock.now += 59
    assert await leases.take(3600) == first
    assert await leases.take(600) != first
    clock.now += 1
    later = await leases.take(3600)
    assert later != first
    for _ in range(OBJECTS_MAX - 1):
        assert await leases.take(3600) == later
    assert await leases.take(3600) not in (first, later)
    await client.close()


async def test_a_row_goes_by_itself_when_its_time_is_over(open_store: OpenStore) -> None:
    store = await open_store()
    async with asyncio.timeout(60), store.watch(PODS, END, 1) as watch:
        await store.create(A, b"1", ttl_s=1)
        assert [event.value for event in (await anext(watch)).events] == [b"1"]
        assert [(event.key, event.value) for event in (await anext(watch)).events] == [(A, None)]


async def test_a_lease_that_is_gone_is_replaced(etcd: Member, open_store: OpenStore) -> None:
    store = await open_store()
    store._writes._leases._by_ttl[60] = await _gone(store)
    revision = await store.create(A, b"1", ttl_s=60)
    assert await store.revision() == revision


async def _gone(store: EtcdStore) -> Lease:
    leases = store._writes._leases
    await leases.take(60)
    lease = leases._by_ttl[60]
    lease.id += 1
    return lease


@pytest.fixture
def small(etcd_pool: EtcdPool, tmp_path: Path) -> Iterator[Member]:
    """An etcd with little room."""
    member = started(tmp_path, more=("--quota-backend-bytes=200000",))[0]
    yield member
    member.discard()


async def test_an_etcd_without_room_refuses_writes_and_goes_on_reading(small: Member) -> None:
    store = EtcdStore(EtcdSettings((small.url,)))
    await store.open()
    with pytest.raises(StoreFull):
        await asyncio.gather(*(store.create(key(str(number)), b"x" * 10_000) for number in range(100)))
    assert (await store.range(PODS, END)).count > 0
    await store.close()


@pytest.mark.parametrize(
    ("version", "is_reliable"),
    [
        ("3.4.30", False),
        ("3.4.31", True),
        ("3.5.1", False),
        ("3.5.12", False),
        ("3.5.13", True),
        ("3.5.21-rc.1", True),
        ("3.6.0", True),
        ("4.0.0", True),
        ("3.3.9", False),
        ("?", False),
    ],
)
def test_progress_is_trusted_from_the_versions_on_that_report_it_rightly(version: str, is_reliable: bool) -> None:
    assert has_reliable_progress(version) is is_reliable


@pytest.mark.parametrize(
    "wrong",
    [
        {"servers": ()},
        {"servers": ("127.0.0.1:2379",)},
        {"servers": ("http://127.0.0.1",)},
        {"servers": ("http://a:1/path",)},
        {"prefix": "registry"},
        {"prefix": "/"},
        {"cert_file": Path("a")},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        EtcdSettings(**wrong)  # type: ignore[arg-type]  # what is wrong with them
