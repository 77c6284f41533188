"""Tests of the Pod garbage collector."""

import asyncio
from typing import Any

import pytest

from sampan.client import DeleteOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NODES, PODS
from sampan.component_base.views import Pod, PodSpec, PodStatus
from sampan.controllers.pod_garbage_collector import PodGarbageSettings, set_up
from sampan.controllers.pod_garbage_collector.garbage import (
    Quarantine,
    is_out_of_service,
    orphaned,
    out_of_service,
    terminated,
    unscheduled,
)
from sampan.controllers.status import find_status_condition
from sampan.resource import ObjectMeta, meta
from tests.controllers.cluster import Working, cluster

NOW = "2026-01-01T00:00:00Z"


def pod(name: str, *, phase: str = "Running", reason: str = "", deleting: bool = False, node: str = "") -> Pod:
    """A Pod; a lower name means an older Pod."""
    metadata = ObjectMeta(name=name, creation_timestamp=name, deletion_timestamp=NOW if deleting else None)
    return Pod(metadata, PodSpec(node_name=node), PodStatus(phase=phase, reason=reason))


def names(pods: object) -> list[str]:
    """The names of Pods."""
    assert isinstance(pods, list | tuple)
    return [each.metadata.name for each in pods]


@pytest.mark.parametrize(("threshold", "expected"), [(0, []), (1, ["c", "a"]), (2, ["c"]), (3, [])])
def test_evicted_and_then_the_oldest_ended_pods_are_deleted_first(threshold: int, expected: list[str]) -> None:
    pods = [
        pod("b", phase="Succeeded"),
        pod("a", phase="Failed"),
        pod("c", phase="Failed", reason="Evicted"),
        pod("0"),
    ]
    assert names(terminated(pods, threshold)) == expected


def test_a_terminating_pod_without_node_is_garbage() -> None:
    pods = [pod("a", deleting=True), pod("b"), pod("c", deleting=True, node="n")]
    assert names(unscheduled(pods)) == ["a"]
    assert names(out_of_service(pods, {"n"})) == ["c"]
    assert names(out_of_service(pods, {"m"})) == []


def test_pods_on_missing_nodes_are_orphans() -> None:
    assert names(orphaned([pod("a", node="n"), pod("b", node="m"), pod("c")], {"n", ""})) == ["a"]


def test_a_node_must_be_missing_for_the_whole_quarantine() -> None:
    quarantine = Quarantine(40)
    assert quarantine.over(["n"], 0) == []
    assert quarantine.over(["n", "m"], 39) == []
    assert quarantine.over(["n", "m"], 40) == ["n"]
    assert quarantine.over([], 50) == []
    assert quarantine.over(["n"], 60) == []


@pytest.mark.parametrize(
    ("taint", "ready", "expected"),
    [
        ("node.kubernetes.io/out-of-service", "Unknown", True),
        ("node.kubernetes.io/out-of-service", "True", False),
        ("other", "False", False),
    ],
)
def test_a_node_is_out_of_service_if_tainted_and_not_ready(taint: str, ready: str, expected: bool) -> None:
    conditions = [{"type": "Ready", "status": ready}]
    node: Any = {"spec": {"taints": [{"key": taint}]}, "status": {"conditions": conditions}}
    assert is_out_of_service(node) is expected


def collecting(context: ControllerContext) -> None:
    """Run the collector with short periods."""
    set_up(context, PodGarbageSettings(terminated_threshold=1, period_s=0.02, quarantine_s=0.1))


async def create(c: Working, name: str, node: str = "", **metadata: object) -> Any:
    """A Pod."""
    spec = {"containers": [{"name": "c", "image": "i"}], **({"nodeName": node} if node else {})}
    return await c.create(PODS, {"metadata": {"name": name, **metadata}, "spec": spec})


async def test_surplus_ended_pods_are_deleted() -> None:
    async with cluster(collecting) as c:
        for name in "abc":
            await create(c, name)
            await c.patch_status(PODS, name, {"phase": "Succeeded"})
        await create(c, "d")
        await c.until_all(PODS, lambda pods: [meta(each).name for each in pods] == ["c", "d"])


async def test_orphans_are_marked_failed_and_deleted() -> None:
    async with cluster(collecting) as c:
        await c.create(NODES, {"metadata": {"name": "n"}})
        await create(c, "stays", "n")
        await create(c, "x", "gone", finalizers=["example.com/see"])
        orphan = await c.until(PODS, "x", lambda p: p["metadata"].get("deletionTimestamp"))
        condition = find_status_condition(orphan["status"], "DisruptionTarget")
        assert condition is not None
        assert (orphan["status"]["phase"], condition["reason"]) == ("Failed", "DeletionByPodGC")
        await c.patch(PODS, "x", {"metadata": {"finalizers": None}})
        await c.until_gone(PODS, "x")
        assert await c.exists(PODS, "stays")


async def test_terminating_pods_on_out_of_service_nodes_are_deleted_immediately() -> None:
    async with cluster(collecting) as c:
        taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
        await c.create(NODES, {"metadata": {"name": "n"}, "spec": {"taints": [taint]}})
        await create(c, "x", "n")
        await c.make_ready(await c.get(PODS, "x"))
        await c.client.resource(PODS).delete("x", DeleteOptions(grace_period_seconds=30))
        async with asyncio.timeout(60):
            await c.until_gone(PODS, "x")
