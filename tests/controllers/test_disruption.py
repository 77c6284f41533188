"""Tests of PodDisruptionBudgets: allowed evictions, expected Pods, and evictions from end to end."""

import datetime as dt
from typing import Any

import pytest

from sampan.client import TooManyRequests
from sampan.component_base.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
)
from sampan.component_base.views import Pod, PodCondition, PodStatus
from sampan.controllers import disruption, replica_set
from sampan.controllers.disruption.budget import desired_healthy, disrupted, healthy, needs_scale
from sampan.controllers.disruption.stale_condition import stale_in_s
from sampan.controllers.status import find_status_condition
from sampan.core.time import format_time
from sampan.resource import ObjectMeta, ResourceInfo, meta
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster

LABELS = {"app": "a"}
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def budget(**spec: object) -> Any:
    """A budget for all Pods of the application."""
    return {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": LABELS}, **spec}}


def workload(replicas: int, **metadata: object) -> Any:
    """A ReplicaSet, Deployment or StatefulSet."""
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": TEMPLATE}
    return {"metadata": {"name": "w", **metadata}, "spec": spec}


def reference(owner: Any) -> Any:
    """The reference to a controller."""
    fields = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta(owner).name}
    return {**fields, "uid": meta(owner).uid, "controller": True}


async def ready_pod(c: Working, name: str, owner: Any | None = None) -> Any:
    """A ready Pod of the application."""
    owners = {"ownerReferences": [reference(owner)]} if owner else {}
    pod = await c.create(PODS, {"metadata": {"name": name, "labels": LABELS, **owners}, "spec": TEMPLATE["spec"]})
    await c.make_ready(pod)
    return pod


async def until_status(c: Working, **wanted: int) -> Any:
    """Wait for these numbers in the budget's status, and return it."""
    found = await c.until(POD_DISRUPTION_BUDGETS, "b", lambda b: wanted.items() <= {**(b.get("status") or {})}.items())
    status: Any = found["status"]
    return status


@pytest.mark.parametrize(
    ("spec", "relative", "desired"),
    [
        ({"minAvailable": 3}, False, 3),
        ({"minAvailable": "30%"}, True, 3),
        ({"maxUnavailable": 3}, True, 7),
        ({"maxUnavailable": "25%"}, True, 7),
        ({"maxUnavailable": 30}, True, 0),
        ({}, False, 0),
    ],
)
def test_the_desired_number_of_healthy_pods(spec: Any, relative: bool, desired: int) -> None:
    assert (needs_scale(spec), desired_healthy(spec, 10)) == (relative, desired)


def pod(name: str, *, deleting: bool = False, **condition: str) -> Pod:
    """A view of a ready Pod, optionally with another condition."""
    conditions = [PodCondition("Ready", "True")]
    if condition:
        conditions.append(PodCondition("DisruptionTarget", **condition))
    deletion = format_time(NOW) if deleting else None
    return Pod(ObjectMeta(name=name, deletion_timestamp=deletion), status=PodStatus(conditions=conditions))


def ago(seconds: float) -> str:
    """A time."""
    return format_time(NOW - dt.timedelta(seconds=seconds))


def test_disrupted_pods_are_dropped_when_deleted_or_overdue() -> None:
    status: Any = {"disruptedPods": {"soon": ago(30), "late": ago(121), "going": ago(1), "gone": ago(1)}}
    found = disrupted(status, [pod("soon"), pod("late"), pod("going", deleting=True), pod("other")], NOW)
    assert found.pods == {"soon": ago(30)}
    assert [each.metadata.name for each in found.overdue] == ["late"]
    assert found.recheck_s == 90


def test_healthy_pods_are_ready_and_not_being_deleted() -> None:
    pods = [pod("a"), pod("b", deleting=True), pod("c"), Pod(ObjectMeta(name="d"))]
    assert healthy(pods, {"c": ago(1)}) == 1


@pytest.mark.parametrize(
    ("found", "wait_s"),
    [
        (pod("a"), None),
        (pod("a", status="True", last_transition_time=ago(20)), 100),
        (pod("a", status="True", last_transition_time=ago(130)), -10),
        (pod("a", status="False", last_transition_time=ago(130)), None),
        (pod("a", status="True", reason="TerminationByKubelet", last_transition_time=ago(130)), None),
        (pod("a", deleting=True, status="True", last_transition_time=ago(130)), None),
    ],
    ids=["no condition", "fresh", "stale", "false", "by the kubelet", "deleting"],
)
def test_a_disruption_condition_becomes_stale(found: Pod, wait_s: float | None) -> None:
    assert stale_in_s(found, NOW) == wait_s


async def test_a_budget_with_a_number_counts_the_pods_that_it_selects() -> None:
    async with cluster(disruption.set_up) as c:
        for name in "xyz":
            await ready_pod(c, name)
        await c.create(POD_DISRUPTION_BUDGETS, budget(minAvailable=2))
        status = await until_status(c, expectedPods=3, desiredHealthy=2, currentHealthy=3, disruptionsAllowed=1)
        condition = find_status_condition(status, "DisruptionAllowed")
        assert condition is not None
        assert (condition["status"], condition["reason"]) == ("True", "SufficientPods")
        assert (condition["observedGeneration"], status["observedGeneration"]) == (1, 1)


async def test_a_budget_without_pods_allows_no_eviction_and_records_an_event() -> None:
    async with cluster(disruption.set_up) as c:
        await c.create(POD_DISRUPTION_BUDGETS, budget(minAvailable=0))
        status = await until_status(c, expectedPods=0, disruptionsAllowed=0, observedGeneration=1)
        condition = find_status_condition(status, "DisruptionAllowed")
        assert condition is not None
        assert (condition["status"], condition["reason"]) == ("False", "InsufficientPods")
        [event] = await c.events("NoPods")
        assert (event["type"], event["message"]) == ("Normal", "No matching pods found")


async def test_the_status_follows_changes_of_pods_and_budgets() -> None:
    async with cluster(disruption.set_up) as c:
        await c.create(POD_DISRUPTION_BUDGETS, budget(minAvailable=1))
        await ready_pod(c, "x")
        await until_status(c, currentHealthy=1, disruptionsAllowed=0)
        await ready_pod(c, "y")
        await until_status(c, currentHealthy=2, disruptionsAllowed=1)
        await c.patch(PODS, "y", {"metadata": {"labels": {"app": "other"}}})
        await until_status(c, currentHealthy=1, disruptionsAllowed=0)
        await c.patch(POD_DISRUPTION_BUDGETS, "b", {"spec": {"minAvailable": 0}})
        await until_status(c, desiredHealthy=0, disruptionsAllowed=1, observedGeneration=2)


@pytest.mark.parametrize("kind", [REPLICA_SETS, STATEFUL_SETS, DEPLOYMENTS], ids=lambda kind: kind.kind)
async def test_a_percentage_is_relative_to_the_scale_of_the_controller(kind: ResourceInfo) -> None:
    async with cluster(disruption.set_up) as c:
        owner = await c.create(kind, workload(10))
        if kind == DEPLOYMENTS:
            owner = await c.create(REPLICA_SETS, workload(3, ownerReferences=[reference(owner)]))
        for name in "xyz":
            await ready_pod(c, name, owner)
        await c.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable="75%"))
        await until_status(c, expectedPods=10, desiredHealthy=2, currentHealthy=3, disruptionsAllowed=1)


async def test_a_controller_without_scale_cannot_be_counted() -> None:
    async with cluster(disruption.set_up) as c:
        owner = await c.create(CONFIG_MAPS, {"metadata": {"name": "w"}})
        await ready_pod(c, "x", owner)
        await c.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable=1))
        found = await c.until(POD_DISRUPTION_BUDGETS, "b", lambda b: (b.get("status") or {}).get("conditions"))
        condition = find_status_condition(found["status"], "DisruptionAllowed")
        assert condition is not None
        assert (condition["status"], condition["reason"]) == ("False", "SyncFailed")
        assert condition["message"] == "configmaps does not implement the scale subresource"
        [event] = await c.events("CalculateExpectedPodCountFailed")
        assert event["message"].endswith("expected pods: configmaps does not implement the scale subresource")


async def test_a_deleted_controller_cannot_be_counted() -> None:
    async with cluster(disruption.set_up) as c:
        gone = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "gone", "uid": "u"}}
        await ready_pod(c, "x", gone)
        await c.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable=1))
        found = await c.until(POD_DISRUPTION_BUDGETS, "b", lambda b: (b.get("status") or {}).get("conditions"))
        assert found["status"]["conditions"][0]["message"] == 'found no controllers for pod "x"'


async def test_a_pod_with_several_budgets_causes_an_event() -> None:
    async with cluster(disruption.set_up) as c:
        await c.create(POD_DISRUPTION_BUDGETS, budget(minAvailable=1))
        await c.create(POD_DISRUPTION_BUDGETS, budget(minAvailable=1) | {"metadata": {"name": "c"}})
        for name in "bc":
            await c.until(POD_DISRUPTION_BUDGETS, name, lambda b: (b.get("status") or {}).get("conditions"))
        await ready_pod(c, "x")
        event, *_ = await c.events("MultiplePodDisruptionBudgets")
        assert event["involvedObject"]["name"] == "x"


async def test_pods_without_a_controller_are_not_expected_and_cause_an_event() -> None:
    async with cluster(disruption.set_up) as c:
        await ready_pod(c, "x")
        await c.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable=1))
        await until_status(c, expectedPods=0, currentHealthy=1, disruptionsAllowed=0)
        [event] = await c.events("UnmanagedPods")
        assert "(selector: app=a)" in event["message"]


async def test_evictions_stop_at_the_budget_and_continue_when_pods_are_replaced() -> None:
    async with cluster(disruption.set_up, replica_set.set_up) as c:
        await c.create(REPLICA_SETS, workload(3))
        await c.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable=1))
        first, second, third = await c.pods(3)
        for each in (first, second, third):
            await c.make_ready(each)
        await until_status(c, disruptionsAllowed=1)
        pods = c.client.resource(PODS)
        await pods.evict(meta(first).name)
        with pytest.raises(TooManyRequests) as refused:
            await pods.evict(meta(second).name)
        assert refused.value.has_cause("DisruptionBudget")
        await until_status(c, currentHealthy=2, disruptionsAllowed=0, expectedPods=3)
        [fresh] = [each for each in await c.pods(3) if meta(each).name not in (meta(second).name, meta(third).name)]
        await c.make_ready(fresh)
        await until_status(c, currentHealthy=3, disruptionsAllowed=1)
        await pods.evict(meta(second).name)


async def test_the_condition_of_a_disruption_that_did_not_happen_is_reset() -> None:
    clock = SetClock()
    async with cluster(disruption.set_up, clock=clock) as c:
        await ready_pod(c, "x")
        await ready_pod(c, "y")
        await c.create(POD_DISRUPTION_BUDGETS, budget(minAvailable=1))
        await until_status(c, disruptionsAllowed=1)
        condition = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": format_time(clock.now())}
        ready = {"type": "Ready", "status": "True"}
        await c.patch_status(PODS, "x", {"conditions": [condition, ready]})
        await c.patch_status(POD_DISRUPTION_BUDGETS, "b", {"disruptedPods": {"x": format_time(clock.now())}})
        await until_status(c, currentHealthy=1, disruptionsAllowed=0)
        clock.forward(121)
        await c.patch(PODS, "x", {"metadata": {"annotations": {"a": "b"}}})
        status = await until_status(c, currentHealthy=2, disruptionsAllowed=1)
        assert "disruptedPods" not in status
        await c.events("NotDeleted")
        found = await c.until(PODS, "x", not_to_be_disrupted)
        assert find_status_condition(found["status"], "Ready")


def not_to_be_disrupted(pod: Any) -> bool:
    """Return True if the Pod's disruption condition is False."""
    condition = find_status_condition(pod["status"], "DisruptionTarget")
    return condition is not None and condition["status"] == "False"
