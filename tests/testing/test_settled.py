"""`settled` with a long pause: periodic work that never ends does not keep it waiting."""

import asyncio

import pytest

from sampan.core.event_loop.background import background
from sampan.operator.leader_election import LeaderElectionConfig
from sampan.operator.manager import Manager, ManagerOptions
from sampan.testing import Cluster
from sampan.testing.cluster import NotSettled
from sampan.testing.time.virtual_time import VirtualTimeLoop, virtual_time
from tests.testing.broken.parts import ADA, controller


def elected() -> ManagerOptions:
    election = LeaderElectionConfig("boats", "default")
    return ManagerOptions(leader_election=election, graceful_shutdown_timeout_s=1.0)


async def test_renewals_of_a_lease_are_no_work(cluster: Cluster) -> None:
    cluster.run(controller(), options=elected())
    await cluster.apply(ADA)
    await cluster.settled(pause=40)
    assert await cluster.get("secret/ada")


async def test_a_candidate_that_waits_for_the_lease_does_no_work(cluster: Cluster) -> None:
    cluster.run(controller(), options=elected(), name="first")
    await cluster.settled(pause=40)
    cluster.run(controller(), options=elected(), name="second")
    await cluster.settled(pause=40)


async def test_a_reconcile_that_comes_again_within_the_pause_is_work(cluster: Cluster) -> None:
    def set_up(manager: Manager) -> None:
        async def sail() -> None:
            for _ in range(10):
                await asyncio.sleep(30)

        manager.add(sail)

    cluster.run(set_up, options=elected())
    with pytest.raises(NotSettled):
        await cluster.settled(pause=40)


@virtual_time
async def test_work_that_is_due_before_the_pause_ends_is_waited_for() -> None:
    done = []

    async def later(seconds: float) -> None:
        await asyncio.sleep(seconds)
        done.append(seconds)

    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    with background():
        renewal = asyncio.create_task(later(1))
    work = asyncio.create_task(later(5))
    await loop.idle(10)
    assert done == [1, 5]
    with background():
        endless = asyncio.create_task(later(2))
    await loop.idle(10)
    assert done == [1, 5]
    endless.cancel()
    await asyncio.gather(renewal, work)
