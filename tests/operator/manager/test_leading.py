"""Parts that a manager with leader election runs, and their times."""

import asyncio
import time

import pytest

from sampan.core.seconds import seconds
from sampan.core.time import SystemClock
from sampan.operator.leader_election import (
    LeaderElectionConfig,
    LeaderElectionLost,
    LeaderElector,
    LeaseLock,
    LeaseOver,
    LeaseRecord,
)
from sampan.operator.leader_election.lease_lock import LEASES
from sampan.operator.manager import Group, Manager, ManagerOptions
from sampan.operator.request import Request
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.operator.cluster import cluster_client
from tests.operator.leader_election.test_elector import FakeLease, Server
from tests.operator.manager.frame import Part, manager, running


def electing(server: Server, identity: str) -> tuple[Manager, FakeLease]:
    """Return a manager with its own lease."""
    made, lease = manager(), FakeLease(server)
    made.elector = LeaderElector(LeaderElectionConfig("lock", "ns", identity), lease)
    return made, lease


def stand_still(for_s: float) -> None:
    """Nothing of the process runs meanwhile, as when it is stopped."""
    time.sleep(for_s)


@virtual_time
async def test_a_standby_runs_everything_but_what_only_the_leader_may() -> None:
    server, log = Server(), list[str]()
    server.write(LeaseRecord("other", 15))
    made, _ = electing(server, "me")
    for group in (Group.CACHES, Group.OTHERS, Group.WARM_UP, Group.LEADER_ELECTED):
        made.add(Part(group.name, log), group=group)
    async with running(made):
        await asyncio.sleep(5)
        assert log == ["+CACHES", "+OTHERS", "+WARM_UP"]
        await made.elected.wait()
        assert log[-1] == "+LEADER_ELECTED"


@virtual_time
async def test_a_standby_that_ends_never_starts_to_lead() -> None:
    server, log = Server(), list[str]()
    server.write(LeaseRecord("other", 15))
    made, _ = electing(server, "me")
    made.add(Part("work", log))
    async with running(made):
        await asyncio.sleep(5)
    assert log == []
    assert server.record == LeaseRecord("other", 15)


@virtual_time
async def test_the_lease_is_given_back_when_the_leaders_work_has_ended_and_before_the_caches_end() -> None:
    server, log = Server(), list[str]()
    made, lease = electing(server, "me")
    made.add(Part("cache", log), group=Group.CACHES)
    made.add(Part("work", log, stop_s=3))
    write = server.write

    def noting(record: LeaseRecord) -> int:
        if not record.holder:
            log.append("released")
        return write(record)

    server.write = noting  # type: ignore[method-assign]
    async with running(made):
        await made.elected.wait()
        assert lease.server.record is not None
    assert log == ["+cache", "+work", "-work", "released", "-cache"]


@virtual_time
async def test_a_lost_lease_ends_the_work_without_grace_and_the_manager_with_an_error() -> None:
    server, ended = Server(), list[float]()
    made, lease = electing(server, "me")

    async def reconcile(request: Request) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append(asyncio.get_running_loop().time())

    controller = made.new_controller("c", reconcile)
    task = asyncio.create_task(made.run())
    await made.elected.wait()
    controller.queue.add(Request("", "a"))
    await settle()
    lease.down = True
    with pytest.raises(LeaderElectionLost):
        await task
    assert ended == [12]
    assert not made.elected.is_set()
    assert server.record is not None
    assert server.record.holder == "me"


@virtual_time
async def test_clocks_of_other_candidates_do_not_matter() -> None:
    server = Server()
    server.write(LeaseRecord("other", 15, "2999-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"))
    made, _ = electing(server, "me")
    async with running(made):
        await asyncio.sleep(14)
        assert not made.elected.is_set()
        await asyncio.wait_for(made.elected.wait(), 10)


async def test_a_leader_that_stood_still_for_longer_than_its_lease_writes_nothing_when_it_goes_on() -> None:
    config = LeaderElectionConfig("lock", "default", "me", 1.0, 0.5, 0.2)
    reported = asyncio.Queue[str]()
    async with cluster_client() as client:
        made = Manager(client, ManagerOptions(leader_election=config))

        async def work() -> None:
            leases = made.client.direct.resource(LEASES)
            await leases.create({"metadata": {"name": "before"}})
            stand_still(1.0)
            assert await leases.get("before")
            with pytest.raises(LeaseOver):
                await leases.create({"metadata": {"name": "after"}})
            other = LeaseLock(client, "default", "lock", SystemClock())
            await other.get()
            await other.update(LeaseRecord("other", 15))
            reported.put_nowait("done")

        made.add(work)
        with pytest.raises(LeaderElectionLost):
            await asyncio.wait_for(made.run(), 10)
        assert reported.get_nowait() == "done"
        assert [lease["metadata"]["name"] for lease in (await client.resource(LEASES).list()).items] == [
            "before",
            "lock",
        ]


async def test_a_leader_whose_machine_slept_for_longer_than_its_lease_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    made, _ = electing(server, "me")
    assert made.elector is not None
    async with running(made):
        await asyncio.wait_for(made.elected.wait(), 10)
        assert not made.elector.is_over()
        awake = seconds()
        lease_s = made.elector.config.lease_duration_s
        monkeypatch.setattr("sampan.operator.leader_election.elector.seconds", lambda: awake + lease_s)
        assert made.elector.is_over()
