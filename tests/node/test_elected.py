"""Simulated nodes of several processes run on the leader."""

import asyncio
from typing import Any

from sampan.client import Client
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES, PODS
from sampan.core.time import SystemClock
from sampan.node.nodes import SimulatedNodes
from sampan.node.set_up import set_up
from sampan.operator.leader_election import LeaderElectionConfig
from sampan.operator.manager import Manager, ManagerOptions
from tests.client.connected import connected
from tests.node.cluster import NODE, pod

SOON_S = 30.0
QUIET_S = 0.5


def options(identity: str) -> ManagerOptions:
    """Return the nodes of one of several processes."""
    election = LeaderElectionConfig(
        "lock", "kube-system", identity, lease_duration_s=2.0, renew_deadline_s=1.5, retry_period_s=0.2
    )
    return ManagerOptions(leader_election=election, graceful_shutdown_timeout_s=1.0)


def manager(client: Client, identity: str) -> Manager:
    """Return the manager of a process that simulates the node."""
    made = Manager(client, options(identity))
    set_up(ControllerContext(made, SystemClock(), ""), SimulatedNodes([NODE], elected=True))
    return made


async def until_runs(client: Client, name: str) -> None:
    async with asyncio.timeout(SOON_S):
        while True:
            if runs(await client.resource(PODS, namespace="default").get(name)):
                return
            await asyncio.sleep(0.05)


def runs(found: Any) -> bool:
    return bool(found.get("status", {}).get("phase") == "Running")


async def test_node_runs_on_the_leader_and_continues_on_the_next_one() -> None:
    async with connected() as (client, _):
        pods = client.resource(PODS, namespace="default")
        one, other = manager(client, "one"), manager(client, "other")
        tasks = [asyncio.create_task(one.run())]
        async with asyncio.timeout(SOON_S):
            await one.elected.wait()
        tasks.append(asyncio.create_task(other.run()))
        await pods.create(pod("first"))
        await until_runs(client, "first")
        await asyncio.sleep(QUIET_S)
        assert not other.elected.is_set()
        before = await client.resource(NODES).get(NODE)
        one.stop()
        await tasks[0]
        await pods.create(pod("second"))
        await until_runs(client, "second")
        assert other.elected.is_set()
        after = await client.resource(NODES).get(NODE)
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert runs(await pods.get("first"))
        other.stop()
        await tasks[1]


async def test_standby_neither_registers_the_node_nor_runs_its_pods() -> None:
    async with connected() as (client, _):
        leader = Manager(client, options("leader"))
        leading = asyncio.create_task(leader.run())
        async with asyncio.timeout(SOON_S):
            await leader.elected.wait()
        other = manager(client, "other")
        waiting = asyncio.create_task(other.run())
        pods = client.resource(PODS, namespace="default")
        await pods.create(pod("first"))
        await asyncio.sleep(QUIET_S)
        assert not runs(await pods.get("first"))
        assert [item["metadata"]["name"] for item in await client.resource(NODES).list()] == []
        for each, task in ((leader, leading), (other, waiting)):
            each.stop()
            await task
