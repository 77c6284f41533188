"""Start and end of leadership, in virtual time, on a lease that can fail."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from sampan.client.errors import ServiceUnavailable, TransportError, api_error
from sampan.operator.leader_election import (
    LeaderElectionConfig,
    LeaderElectionLost,
    LeaderElectionMetrics,
    LeaderElector,
    LeaseRecord,
)
from sampan.testing.time.virtual_time import run_virtual, settle, virtual_time
from tests.properties import examples


class Server:
    """The one lease."""

    def __init__(self) -> None:
        self.record: LeaseRecord | None = None
        self.version = 0

    def write(self, record: LeaseRecord) -> int:
        self.record = record
        self.version += 1
        return self.version


class FakeLease:
    """One candidate's view of it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.down = False
        self.hangs = False
        self.latency_s = 0.0
        self.lose_responses = 0
        """Number of next updates that succeed without a response."""
        self._read_version = 0

    def time(self) -> str:
        return str(asyncio.get_running_loop().time())

    async def get(self) -> LeaseRecord | None:
        await self._travel()
        self._read_version = self.server.version
        return self.server.record

    async def create(self, record: LeaseRecord) -> None:
        await self._travel()
        if self.server.record is not None:
            raise api_error({"code": 409, "reason": "AlreadyExists"})
        self._read_version = self.server.write(record)

    async def update(self, record: LeaseRecord) -> None:
        await self._travel()
        if self._read_version != self.server.version:
            raise api_error({"code": 409, "reason": "Conflict"})
        if self.lose_responses:
            self.lose_responses -= 1
            self.server.write(record)
            raise TransportError("the connection was lost", sent=True)
        self._read_version = self.server.write(record)

    async def _travel(self) -> None:
        await asyncio.sleep(1e9 if self.hangs else self.latency_s)
        if self.down:
            raise TransportError("connection refused", sent=False)


class Candidate:
    """An elector, its lease and a note of when it led."""

    def __init__(self, server: Server, identity: str, *, stop_s: float = 0.0, release: bool = True) -> None:
        self.lease = FakeLease(server)
        self.registry = CollectorRegistry()
        self.leaders: list[str] = []
        self.elector = LeaderElector(
            LeaderElectionConfig("lock", "ns", identity, release_on_exit=release),
            self.lease,
            on_new_leader=self.leaders.append,
            metrics=LeaderElectionMetrics(self.registry),
        )
        self.led: list[tuple[float, float]] = []
        self.stop_s = stop_s
        self.leading = asyncio.Event()
        self.task = asyncio.create_task(self.elector.run(self._lead))

    async def _lead(self) -> None:
        assert self.elector.is_leader()
        begin = asyncio.get_running_loop().time()
        self.leading.set()
        try:
            await asyncio.sleep(1e9)
        finally:
            try:
                await asyncio.sleep(self.stop_s)
            finally:
                self.led.append((begin, asyncio.get_running_loop().time()))

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})


@asynccontextmanager
async def candidates(*names: str, stop_s: float = 0.0, release: bool = True) -> AsyncIterator[list[Candidate]]:
    """So many candidates for one lease; the first has the lead."""
    server = Server()
    made: list[Candidate] = []
    for name in names:
        made.append(Candidate(server, name, stop_s=stop_s, release=release))
        await settle()
    try:
        yield made
    finally:
        for each in made:
            await each.stop()


def now() -> float:
    return asyncio.get_running_loop().time()


@virtual_time
async def test_the_first_candidate_leads_and_the_second_waits() -> None:
    async with candidates("a", "b") as (a, b):
        await asyncio.sleep(61)
        assert a.elector.is_leader()
        assert not b.leading.is_set()
        assert b.elector.leader == "a"
        record = a.lease.server.record
        assert record is not None
        assert (record.holder, record.duration_s, record.transitions) == ("a", 15, 0)
        assert (record.acquire_time, record.renew_time) == ("0.0", "60.0")


@virtual_time
async def test_a_leader_that_ends_gives_the_lease_back_and_another_need_not_wait() -> None:
    async with candidates("a", "b") as (a, b):
        await asyncio.sleep(60)
        await a.stop()
        record = a.lease.server.record
        assert record is not None
        assert (record.holder, record.duration_s) == ("", 1)
        begin = now()
        await b.leading.wait()
        assert now() - begin < 2 * (1 + 1.2)
        assert b.lease.server.record is not None
        assert b.lease.server.record.transitions == 1


@virtual_time
async def test_without_release_the_next_waits_for_the_whole_lease() -> None:
    async with candidates("a", "b", release=False) as (a, b):
        await asyncio.sleep(60)
        await a.stop()
        begin = now()
        await b.leading.wait()
        assert 13 <= now() - begin <= 15.01 + 2 * 2.2


@virtual_time
async def test_a_candidate_takes_over_at_the_end_of_an_unrenewed_lease() -> None:
    server = Server()
    server.write(LeaseRecord("dead", 15))
    candidate = Candidate(server, "a")
    await candidate.leading.wait()
    assert now() == pytest.approx(15, abs=0.01)
    await candidate.stop()


@virtual_time
async def test_the_work_ends_before_the_lease_is_given_back_and_is_renewed_until_then() -> None:
    async with candidates("a", "b", stop_s=40) as (a, b):
        await asyncio.sleep(60)
        a.task.cancel()
        await asyncio.sleep(39)
        assert a.elector.is_leader()
        assert not b.leading.is_set()
        await b.leading.wait()
        assert a.led[0][1] == 100
        assert now() >= 100


@pytest.mark.parametrize("how", ["down", "hangs"])
def test_a_leader_that_cannot_renew_ends_its_work_before_another_takes_over(how: str) -> None:
    async def run() -> None:
        async with candidates("a", "b") as (a, b):
            await asyncio.sleep(60.5)
            setattr(a.lease, how, True)
            with pytest.raises(LeaderElectionLost, match="could not be renewed in 10 s"):
                await a.task
            assert now() == pytest.approx(72, abs=0.1)
            assert not b.leading.is_set()
            await b.leading.wait()
            assert a.led[0][1] < now()
            assert a.registry.get_sample_value("leader_election_master_status", {"name": "lock"}) == 0

    run_virtual(run())


@virtual_time
async def test_a_leader_that_sees_another_holding_the_lease_gives_up_at_once() -> None:
    async with candidates("a") as [a]:
        await asyncio.sleep(11)
        a.lease.server.write(LeaseRecord("thief", 15))
        with pytest.raises(LeaderElectionLost, match="thief has taken the lease lock"):
            await a.task
        assert now() == 12
        assert a.lease.server.record == LeaseRecord("thief", 15)


@virtual_time
async def test_a_lease_that_another_has_taken_is_not_given_back() -> None:
    async with candidates("a") as [a]:
        await asyncio.sleep(11)
        a.lease.server.write(LeaseRecord("thief", 15))
        await a.stop()
        assert a.lease.server.record == LeaseRecord("thief", 15)


@virtual_time
async def test_work_that_takes_its_time_to_end_is_cut_short_when_the_lease_is_lost() -> None:
    async with candidates("a", "b", stop_s=1000) as (a, b):
        await asyncio.sleep(60)
        a.task.cancel()
        await asyncio.sleep(1)
        a.lease.down = True
        await b.leading.wait()
        assert a.led[0][1] < now()


@virtual_time
async def test_short_troubles_do_not_end_the_lead() -> None:
    async with candidates("a", "b") as (a, b):
        for _ in range(5):
            await asyncio.sleep(10.5)
            a.lease.down = True
            await asyncio.sleep(7)
            a.lease.down = False
        assert not a.task.done()
        assert not b.leading.is_set()


@virtual_time
async def test_when_the_work_raises_the_lease_is_given_back_and_the_error_reported() -> None:
    server = Server()
    elector = LeaderElector(LeaderElectionConfig("lock", "ns", "a"), FakeLease(server))

    async def fail() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await elector.run(fail)
    assert server.record is not None
    assert server.record.holder == ""


@virtual_time
async def test_new_leaders_are_notified_of_once_each() -> None:
    async with candidates("a", "b", "c") as (a, b, c):
        await asyncio.sleep(30)
        await a.stop()
        await asyncio.sleep(30)
        second = b if b.leading.is_set() else c
        assert a.leaders == ["a"]
        assert c.leaders[0] == "a"
        assert [name for name in c.leaders if name] == ["a", second.elector.config.identity]


@virtual_time
async def test_the_check_fails_only_for_a_leader_that_has_long_lost_its_lease_and_not_noticed() -> None:
    async with candidates("a", "b") as (a, b):
        await asyncio.sleep(60)
        a.elector.check()
        b.elector.check()
        for each in (a, b):
            each.elector._observed_at = now() - 36
        b.elector.check()
        with pytest.raises(LeaderElectionLost, match="failed election to renew leadership on lease lock"):
            a.elector.check()
        a.elector.check(tolerance_s=30)


@virtual_time
async def test_a_foreign_write_costs_one_reading() -> None:
    async with candidates("a") as [a]:
        await asyncio.sleep(11)
        assert a.lease.server.record is not None
        a.lease.server.write(a.lease.server.record)
        await asyncio.sleep(10)
        assert not a.task.done()
        assert a.registry.get_sample_value("leader_election_slowpath_total", {"name": "lock"}) == 1
        assert a.registry.get_sample_value("leader_election_master_status", {"name": "lock"}) == 1


@virtual_time
async def test_an_overloaded_server_is_called_again() -> None:
    server = Server()
    lease = FakeLease(server)
    refusals = [ServiceUnavailable, ServiceUnavailable]
    get = lease.get

    async def refusing() -> LeaseRecord | None:
        if refusals:
            refusals.pop()
            raise api_error({"code": 503, "reason": "ServiceUnavailable"})
        return await get()

    lease.get = refusing  # type: ignore[method-assign]
    elector = LeaderElector(LeaderElectionConfig("lock", "ns", "a"), lease)
    led = asyncio.Event()

    async def lead() -> None:
        led.set()

    await elector.run(lead)
    assert led.is_set()


@settings(max_examples=examples(40))
@given(st.integers(min_value=0, max_value=2**32))
def test_whatever_fails_two_never_lead_at_the_same_time(seed: int) -> None:
    async def run() -> list[Candidate]:
        dice = random.Random(seed)
        async with candidates("a", "b", "c") as made:
            for _ in range(40):
                await asyncio.sleep(dice.uniform(0.1, 9))
                lease = dice.choice(made).lease
                lease.down, lease.hangs = dice.random() < 0.3, dice.random() < 0.2
                lease.latency_s = dice.choice([0, 0, 0.1, 2])
        return made

    led = sorted(interval for candidate in run_virtual(run()) for interval in candidate.led)
    assert led
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(led))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": ""}, "needs a name"),
        ({"identity": ""}, "needs a name"),
        ({"lease_duration_s": 10}, "greater than renew_deadline_s"),
        ({"renew_deadline_s": 2.4}, r"greater than retry_period_s \* 1.2"),
        ({"retry_period_s": 0}, "greater than zero"),
        ({"lease_duration_s": 0.5, "renew_deadline_s": 0.4, "retry_period_s": 0.1}, "at least 1"),
    ],
)
def test_durations_that_do_not_fit_are_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LeaderElectionConfig(**{"name": "n", "namespace": "ns", "identity": "me", **wrong})  # type: ignore[arg-type]


@virtual_time
async def test_a_renewed_lease_counts_from_the_request() -> None:
    async with candidates("a") as (a,):
        await a.leading.wait()
        a.lease.latency_s = 4.0
        await asyncio.sleep(7.0)  # the renewal was requested after 2 s and has succeeded after 6 s
        a.lease.hangs = True
        await asyncio.sleep(9.5)
        assert a.elector.is_leader()
        await asyncio.sleep(1.0)
        assert not a.elector.is_leader()


@virtual_time
async def test_a_lease_that_was_taken_over_counts_from_the_request() -> None:
    async with candidates("a", "b") as (a, b):
        b.lease.latency_s = 4.0
        await a.stop()
        await b.leading.wait()  # the write was requested 4 s ago
        b.lease.hangs = True
        await asyncio.sleep(10.5)
        assert b.elector.is_leader()
        await asyncio.sleep(1.0)
        assert not b.elector.is_leader()


def test_each_candidate_has_another_identity_unless_one_is_given() -> None:
    first, second = (LeaderElectionConfig("lock", "ns").identity for _ in range(2))
    assert first != second
    assert str(os.getpid()) in first


@virtual_time
async def test_two_processes_with_one_identity_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    async with candidates("a") as (first,):
        await asyncio.sleep(0.7)
        second = Candidate(first.lease.server, "a")
        await asyncio.sleep(30)
        assert first.leading.is_set()
        assert second.leading.is_set()
        await second.stop()
    assert "lease lock was renewed by another process with the identity a" in caplog.text


@virtual_time
async def test_a_lost_response_to_a_renewal_is_not_another_process(caplog: pytest.LogCaptureFixture) -> None:
    async with candidates("a") as (only,):
        await asyncio.sleep(10)
        only.lease.lose_responses = 1
        await asyncio.sleep(20)
    assert only.lease.lose_responses == 0
    assert "another process" not in caplog.text
