"""Shutdown of a simulated node, in virtual time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sampan.component_base.resources import NODES, PODS
from sampan.node.shutdown.node_shutdown import NodeShutdown
from sampan.node.shutdown.policy import shutdown_policy
from sampan.node.shutdown.signal import ShutdownSignal
from sampan.testing.time.virtual_time import virtual_time
from tests.controllers.cluster import Working
from tests.node.cluster import NODE, condition, create
from tests.node.eviction.cluster import pressed
from tests.node.test_pods import has_phase, is_ready

MESSAGE = "Pod was terminated in response to imminent node shutdown."


@asynccontextmanager
async def shut_down(root: Path, *pods: tuple[str, Any]) -> AsyncIterator[tuple[Working, asyncio.Task[None]]]:
    """Run Pods that take 4 s to end, then shut down their node: 10 s for Pods, 5 s for critical ones."""
    async with pressed(root) as (cluster, node):
        for name, spec in pods:
            await create(cluster, name, annotations={"sampan.dev/stop-after": "4s"}, **spec)
            await cluster.until(PODS, name, is_ready)
        assert node.agent is not None
        policy = shutdown_policy(15.0, 5.0, "")
        shutdown = NodeShutdown(policy, pods=node.agent, state=node.state, signal=ShutdownSignal())
        task = asyncio.create_task(shutdown.shut_down())
        yield cluster, task
        await task


@virtual_time
async def test_pods_fail_and_the_node_is_not_ready(tmp_path: Path) -> None:
    async with shut_down(tmp_path, ("web", {})) as (cluster, task):
        await task
        status = (await cluster.get(PODS, "web"))["status"]
        assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Terminated", MESSAGE)
        assert condition({"status": status}, "DisruptionTarget")["reason"] == "TerminationByKubelet"
        ready = condition(await cluster.get(NODES, NODE), "Ready")
        assert (ready["status"], ready["reason"]) == ("False", "KubeletNotReady")
        assert ready["message"] == "node is shutting down"


@virtual_time
async def test_critical_pods_end_after_all_regular_ones(tmp_path: Path) -> None:
    critical = {"priorityClassName": "system-node-critical"}
    async with shut_down(tmp_path, ("web", {}), ("critical", critical)) as (cluster, task):
        await cluster.until(PODS, "web", has_phase("Failed"))
        assert (await cluster.get(PODS, "critical"))["status"]["phase"] == "Running"
        await task
        assert (await cluster.get(PODS, "critical"))["status"]["phase"] == "Failed"


@virtual_time
async def test_stage_ends_as_soon_as_its_pods_have_ended(tmp_path: Path) -> None:
    async with shut_down(tmp_path, ("web", {})) as (_, task):
        began = asyncio.get_running_loop().time()
        await task
        assert 4.0 <= asyncio.get_running_loop().time() - began < 5.0


@virtual_time
async def test_new_pod_is_refused(tmp_path: Path) -> None:
    async with shut_down(tmp_path) as (cluster, task):
        await task
        await create(cluster, "late")
        status = (await cluster.until(PODS, "late", has_phase("Failed")))["status"]
        assert status["reason"] == "NodeShutdown"
        assert status["message"] == "Pod was rejected: Pod was rejected as the node is shutting down."


@virtual_time
async def test_signal_of_the_process_shuts_the_node_down(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        await create(cluster, "web")
        await cluster.until(PODS, "web", is_ready)
        assert node.agent is not None
        signal = ShutdownSignal()
        shutdown = NodeShutdown(shutdown_policy(5.0, 0.0, ""), pods=node.agent, state=node.state, signal=signal)
        task = asyncio.create_task(shutdown.run())
        await signal.request(10.0)
        assert (await cluster.get(PODS, "web"))["status"]["phase"] == "Failed"
        await task
