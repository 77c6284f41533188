"""Evictions on a simulated node, in virtual time."""

import asyncio
from pathlib import Path
from typing import Any

from sampan.component_base.resources import EVENTS, NODES, PODS
from sampan.resource import Object
from sampan.testing.time.virtual_time import virtual_time
from tests.node.cluster import NODE, condition, create
from tests.node.eviction.cluster import LITTLE, PLENTY, policy, pressed
from tests.node.test_pods import has_phase, is_ready


def using(memory: str, **annotations: str) -> dict[str, str]:
    return {"sampan.dev/memory": memory, **annotations}


def requesting(memory: str) -> list[Object]:
    return [{"name": "main", "image": "app:1", "resources": {"requests": {"memory": memory}}}]


def has_condition(type: str, status: str) -> Any:
    return lambda node: condition(node, type).get("status") == status


@virtual_time
async def test_pod_above_its_request_is_evicted(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        await create(cluster, "small", annotations=using("10Mi"), containers=requesting("20Mi"))
        await create(cluster, "large", annotations=using("1Gi"))
        await cluster.until(PODS, "small", is_ready)
        await cluster.until(PODS, "large", is_ready)
        node.meter.now = LITTLE
        status = (await cluster.until(PODS, "large", has_phase("Failed")))["status"]
        message = (
            "The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. "
            "Container main was using 1Gi, request is 0, has larger consumption of memory. "
        )
        assert (status["reason"], status["message"]) == ("Evicted", message)
        target = condition({"status": status}, "DisruptionTarget")
        assert (target["status"], target["reason"], target["message"]) == ("True", "TerminationByKubelet", message)
        assert "terminated" in status["containerStatuses"][0]["state"]
        node.meter.now = PLENTY
        assert (await cluster.get(PODS, "small"))["status"]["phase"] == "Running"


@virtual_time
async def test_eviction_is_an_event_with_the_starved_resource(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        await create(cluster, "web", annotations=using("1Gi"))
        await cluster.until(PODS, "web", is_ready)
        node.meter.now = LITTLE
        (event,) = await cluster.events("Evicted")
        assert (event["type"], event["involvedObject"]["name"]) == ("Warning", "web")
        assert event["metadata"]["annotations"]["starved_resource"] == "memory"
        node_events = [each for each in await cluster.all(EVENTS) if each["reason"] == "EvictionThresholdMet"]
        assert node_events[0]["message"] == "Attempting to reclaim memory"


@virtual_time
async def test_pods_are_evicted_one_at_a_time(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        for name in ("a", "b"):
            await create(cluster, name, annotations=using("1Gi", **{"sampan.dev/stop-after": "1s"}))
            await cluster.until(PODS, name, is_ready)
        node.meter.now = LITTLE
        await asyncio.sleep(10.5)
        phases = [(await cluster.get(PODS, name))["status"]["phase"] for name in ("a", "b")]
        assert sorted(phases) == ["Running", "Running"]
        node.meter.now = PLENTY
        await asyncio.sleep(20)
        phases = [(await cluster.get(PODS, name))["status"]["phase"] for name in ("a", "b")]
        assert sorted(phases) == ["Failed", "Running"]


@virtual_time
async def test_critical_pod_stays(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        await create(cluster, "critical", annotations=using("1Gi"), priorityClassName="system-node-critical")
        await cluster.until(PODS, "critical", is_ready)
        node.meter.now = LITTLE
        await asyncio.sleep(60)
        assert (await cluster.get(PODS, "critical"))["status"]["phase"] == "Running"


@virtual_time
async def test_soft_threshold_evicts_after_its_grace_period(tmp_path: Path) -> None:
    soft = policy("", "memory.available<100Mi", "memory.available=60s")
    async with pressed(tmp_path, soft) as (cluster, node):
        await create(cluster, "web", annotations=using("1Gi", **{"sampan.dev/stop-after": "1h"}))
        await cluster.until(PODS, "web", is_ready)
        node.meter.now = LITTLE
        await asyncio.sleep(55)
        assert not condition(await cluster.get(PODS, "web"), "DisruptionTarget")
        began = asyncio.get_running_loop().time()
        await cluster.until(PODS, "web", has_phase("Failed"))
        assert 20 <= asyncio.get_running_loop().time() - began < 40


@virtual_time
async def test_node_reports_pressure_until_the_transition_period_is_over(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        await cluster.until(NODES, NODE, has_condition("MemoryPressure", "False"))
        node.meter.now = LITTLE
        found = await cluster.until(NODES, NODE, has_condition("MemoryPressure", "True"))
        assert condition(found, "MemoryPressure")["reason"] == "KubeletHasInsufficientMemory"
        assert condition(found, "DiskPressure")["status"] == "False"
        node.meter.now = PLENTY
        await asyncio.sleep(290)
        assert condition(await cluster.get(NODES, NODE), "MemoryPressure")["status"] == "True"
        await cluster.until(NODES, NODE, has_condition("MemoryPressure", "False"))


@virtual_time
async def test_node_under_memory_pressure_refuses_pods_without_requests(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        node.state.set_pressures(frozenset({"MemoryPressure"}))
        toleration = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}
        await create(cluster, "modest", containers=requesting("1Mi"))
        await create(cluster, "tolerant", tolerations=[toleration])
        await create(cluster, "other")
        status = (await cluster.until(PODS, "other", has_phase("Failed")))["status"]
        message = "Pod was rejected: The node had condition: [MemoryPressure]. "
        assert (status["reason"], status["message"]) == ("Evicted", message)
        await cluster.until(PODS, "modest", is_ready)
        await cluster.until(PODS, "tolerant", is_ready)


@virtual_time
async def test_node_under_disk_pressure_accepts_only_critical_pods(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        node.state.set_pressures(frozenset({"DiskPressure"}))
        await create(cluster, "modest", containers=requesting("1Mi"))
        await create(cluster, "critical", priorityClassName="system-cluster-critical")
        await cluster.until(PODS, "modest", has_phase("Failed"))
        await cluster.until(PODS, "critical", is_ready)


@virtual_time
async def test_evicted_pod_can_be_deleted(tmp_path: Path) -> None:
    async with pressed(tmp_path) as (cluster, node):
        await create(cluster, "web", annotations=using("1Gi"))
        await cluster.until(PODS, "web", is_ready)
        node.meter.now = LITTLE
        await cluster.until(PODS, "web", has_phase("Failed"))
        await cluster.delete(PODS, "web")
        await cluster.until_gone(PODS, "web")
