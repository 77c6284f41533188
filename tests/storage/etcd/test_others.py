"""Who writes to etcd alone need not ask it; and nobody reads anything old for it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sampan.registry.servers.addresses import Address, ServerAddresses
from sampan.storage.etcd import EtcdSettings, EtcdStore, messages
from sampan.storage.etcd.client import EtcdClient
from sampan.storage.etcd.entry import Entry
from sampan.storage.etcd.others import MASTER_LEASES
from sampan.storage.store import KeyExists, StoreUnavailable
from tests.storage.cached import PODS, key, pod, running
from tests.storage.conftest import Clock
from tests.storage.etcd.conftest import OpenStore
from tests.storage.etcd.late import delay_events
from tests.storage.etcd.server import Member

WAIT_S = 0.2
DEADLINE_S = 30.0
A = key("a")


@pytest.fixture
async def client(etcd: Member) -> AsyncIterator[EtcdClient]:
    """What others do in etcd."""
    client = EtcdClient(EtcdSettings((etcd.url,)))
    yield client
    await client.close()


@pytest.fixture
async def store(etcd: Member) -> AsyncIterator[EtcdStore]:
    store = EtcdStore(EtcdSettings((etcd.url,), entry_wait_s=WAIT_S))
    await store.open()
    yield store
    await store.close()


async def until_alone(store: EtcdStore, *, alone: bool = True) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while store._others.known is not alone:
            await store.revision()
            await asyncio.sleep(0.01)


async def put(client: EtcdClient, name: bytes, value: bytes = b"") -> None:
    await client.ask(messages.PUT, messages.PutRequest(key=name, value=value))


async def delete(client: EtcdClient, name: bytes) -> None:
    change = messages.RequestOp(request_delete_range=messages.DeleteRangeRequest(key=name))
    await client.ask(messages.TXN, messages.TxnRequest(success=[change]))


async def test_who_writes_alone_reads_without_asking(store: EtcdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await store.create(A, b"0")
    await until_alone(store)
    clock = Clock()
    monkeypatch.setattr(store._others, "_clock", clock)
    await store._others.ask()

    async def asked() -> int:
        raise AssertionError("etcd was asked")

    monkeypatch.setattr(store._newest, "_ask", asked)
    revision = await store.update(A, b"1", await store.revision())
    assert await store.revision() >= revision


async def test_that_nobody_else_writes_is_forgotten_in_time(store: EtcdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(store._others, "_clock", clock)
    await store._others.ask()
    clock.now += WAIT_S * 0.75
    assert store._others.known
    clock.now += WAIT_S * 0.25
    assert not store._others.known


async def test_an_answer_that_took_long_holds_for_less_long(store: EtcdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(store._others, "_clock", clock)
    ask = store._client.ask

    async def slow(method: messages.Method, request: messages.AnyMessage) -> messages.AnyMessage:
        answer = await ask(method, request)
        clock.now += WAIT_S
        return answer

    monkeypatch.setattr(store._client, "ask", slow)
    await store._others.ask()
    assert not store._others.known


async def test_what_another_wrote_is_read_at_once_while_stores_come_and_go(
    store: EtcdStore, etcd: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(store) as cache:
        delay_events(store, monkeypatch)
        for number in range(6):
            await until_alone(store)
            other = EtcdStore(EtcdSettings((etcd.url,), entry_wait_s=WAIT_S))
            await other.open()
            writing = asyncio.create_task(other.create(key(str(number)), pod(str(number))))
            while not writing.done():
                await store.revision()
                await asyncio.sleep(0.001)
            assert await cache.fresh() >= writing.result()
            assert len(cache.list(PODS).records) == number + 1
            await other.close()


async def test_who_comes_writes_only_after_a_while(etcd: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    now, enter = asyncio.get_running_loop().time, Entry.enter
    entered: list[float] = []

    def noted(entry: Entry) -> None:
        entered.append(now())
        enter(entry)

    monkeypatch.setattr(Entry, "enter", noted)
    store = EtcdStore(EtcdSettings((etcd.url,), entry_wait_s=WAIT_S))
    await store.open()
    await store.create(A, b"0")
    assert now() - entered[-1] > WAIT_S
    await store.close()


async def test_a_store_whose_row_is_gone_makes_another_one_and_writes(store: EtcdStore, client: EtcdClient) -> None:
    revision = await store.create(A, b"0")
    before = store._entry.key
    await delete(client, before)
    assert await store.update(A, b"1", revision) > revision
    assert store._entry.key != before


async def test_nothing_is_written_while_the_row_is_gone(
    store: EtcdStore, client: EtcdClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.create(A, b"0")
    await delete(client, store._entry.key)

    async def refused() -> None:
        raise StoreUnavailable("no row")

    monkeypatch.setattr(store._entry, "ensure", refused)
    with pytest.raises(StoreUnavailable):
        await store.create(key("b"), b"1")
    assert await store.get(key("b")) is None


async def test_a_row_stays_as_long_as_its_store(etcd: Member, client: EtcdClient) -> None:
    store = EtcdStore(EtcdSettings((etcd.url,), entry_wait_s=0.01))
    await store.open()
    await store.create(A, b"0")
    name = store._entry.key
    assert await client.keep_alive(store._entry._lease)
    lease = store._entry._lease
    await store.close()
    assert not await client.keep_alive(lease)
    answer = await client.ask(messages.RANGE, messages.RangeRequest(key=name))
    assert not answer.kvs


async def test_what_a_refusal_told_is_read_after_it(
    store: EtcdStore, client: EtcdClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(store) as cache:
        await store.create(key("b"), pod("b"))
        monkeypatch.setattr(store._others, "_clock", Clock())
        await store._others.ask()
        delay_events(store, monkeypatch)
        await put(client, A.encode(), pod("a"))
        with pytest.raises(KeyExists):
            await store.create(A, pod("a"))
        assert store._others.known
        await cache.fresh()
        assert cache.get(A) is not None


async def test_a_kube_apiserver_that_comes_is_noticed(store: EtcdStore, client: EtcdClient) -> None:
    await store.create(f"{MASTER_LEASES}10.0.0.1:6443", b"{}")
    await until_alone(store)
    await put(client, b"/registry/masterleases/10.0.0.1")
    await until_alone(store, alone=False)
    for _ in range(10):
        await store.revision()
        assert not store._others.known
    await delete(client, b"/registry/masterleases/10.0.0.1")
    await until_alone(store)


@pytest.mark.parametrize("name", ["10.0.0.1", "fd00::1", "fd00::6443", "::1"])
async def test_a_row_without_a_port_is_a_kube_apiservers(store: EtcdStore, client: EtcdClient, name: str) -> None:
    await until_alone(store)
    await put(client, MASTER_LEASES.encode() + name.encode())
    await store._others._look()
    assert not store._others.known


@pytest.mark.parametrize("ip", ["10.0.0.1", "fd00::1"])
async def test_a_row_with_a_port_is_one_of_our_own_servers(store: EtcdStore, ip: str) -> None:
    await until_alone(store)
    await ServerAddresses(store, Address(ip, 6443)).renew()
    await store._others._look()
    assert store._others.known


async def test_what_was_asked_before_a_kube_apiserver_came_counts_no_more(store: EtcdStore) -> None:
    asking = asyncio.create_task(store._others._look())
    await asyncio.sleep(0)
    store._others.doubt(f"{MASTER_LEASES}10.0.0.1")
    await asking
    assert not store._others.known


async def test_who_is_told_to_always_ask_does(etcd: Member) -> None:
    store = EtcdStore(EtcdSettings((etcd.url,), entry_wait_s=WAIT_S, always_ask=True))
    await store.open()
    await store._others.ask()
    assert not store._others.known
    await store.close()


async def test_stores_of_other_prefixes_do_not_matter(store: EtcdStore, open_store: OpenStore) -> None:
    await (await open_store(prefix="/other")).create(A, b"0")
    await until_alone(store)


async def test_a_watch_from_before_what_others_wrote_begins_at_once(store: EtcdStore, client: EtcdClient) -> None:
    await put(client, b"/elsewhere")
    revision = await store.create(A, pod("a"))
    await put(client, b"/elsewhere")
    async with running(store) as cache, asyncio.timeout(DEADLINE_S), cache.watch(PODS, after=revision) as watcher:
        later = await store.create(key("b"), pod("b"))
        batch = await watcher.next()
    assert [delivery[1].revision for delivery in batch.events] == [later]


async def test_a_watch_of_kube_apiservers_that_fails_at_once_holds_up_nothing(
    store: EtcdStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = 0

    def failing(*_: object) -> None:
        nonlocal times
        times += 1
        assert times < 1000
        raise StoreUnavailable("no watch")

    monkeypatch.setattr(store, "watch", failing)
    looking = asyncio.create_task(store._look_out())
    await asyncio.sleep(0.05)
    assert times == 1
    looking.cancel()
