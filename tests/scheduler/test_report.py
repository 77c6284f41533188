"""The report of the scheduler in /debug/controllers: its queue, its rate, and the last attempts for a Pod."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from sampan.component_base.resources import PODS
from sampan.scheduler.set_up import set_up
from tests.controllers.cluster import Working, cluster
from tests.scheduler.objects import node_object, pod_object
from tests.scheduler.test_scheduler import bound, make_nodes, make_pods, not_scheduled


def report(work: Working, query: str = "") -> Any:
    found = work.manager.reports.report(query)
    assert found.code == 200
    return json.loads(found.body)


def scheduler(work: Working) -> Any:
    [found] = [each for each in report(work)["controllers"] if each["name"] == "scheduler"]
    return found


def attempts(work: Working, name: str) -> Any:
    """Return the attempts for a Pod; None if there are none."""
    found = report(work, f"resource=pods&object=default/{name}")["reconciled"]
    return next((each for each in found if each["controller"] == "scheduler"), None)


async def until(condition: Callable[[], Any]) -> None:
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the condition did not become true")


async def test_a_bound_pod_has_a_successful_attempt() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("web"))
        await bound(work, "web")
        await until(lambda: attempts(work, "web"))
        [attempt] = attempts(work, "web")["reconciles"]
        assert (attempt["result"], attempt["attempt"], attempt["error"]) == ("success", 1, "")
        assert [(each["event"], each["resource"]) for each in attempt["causes"]] == [("create", "pods")]
        assert [(each["verb"], each["subresource"]) for each in attempt["writes"]] == [("create", "binding")]
        found = scheduler(work)
        assert (found["resource"], found["total"], found["errors"], found["failing"]) == ("pods", 1, 0, 0)
        assert found["perSecond"] > 0
        assert found["queue"] == {"depth": 0, "waiting": 0, "processing": 0, "oldestSeconds": None}


async def test_a_pod_that_fits_nowhere_has_the_reason_and_the_next_attempt() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("small", cpu="1"))
        await make_pods(work, pod_object("large", requests={"cpu": "2"}))
        await work.until(PODS, "large", not_scheduled)
        found = attempts(work, "large")
        [attempt] = found["reconciles"]
        assert attempt["error"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert (attempt["result"], found["failures"], found["pausable"]) == ("error", 1, False)
        assert found["nextDue"] is not None
        assert 0 < attempt["nextSeconds"] <= 330
        state = scheduler(work)
        assert (state["failing"], state["errors"], state["queue"]["waiting"]) == (1, 1, 1)


async def test_a_later_attempt_names_the_event_that_led_to_it() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("small", cpu="1"))
        await make_pods(work, pod_object("large", requests={"cpu": "2"}))
        await work.until(PODS, "large", not_scheduled)
        await make_nodes(work, node_object("big", cpu="4"))
        assert await bound(work, "large") == "big"
        await until(lambda: attempts(work, "large")["failures"] == 0)
        last, first = attempts(work, "large")["reconciles"]
        assert (first["result"], last["result"], last["attempt"]) == ("error", "success", 2)
        assert [each["event"] for each in last["causes"]] == ["NodeAdd"]
        assert scheduler(work)["failing"] == 0


async def test_a_deleted_pod_does_not_fail_any_more() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("small", cpu="1"))
        await make_pods(work, pod_object("large", requests={"cpu": "2"}))
        await work.until(PODS, "large", not_scheduled)
        assert scheduler(work)["failing"] == 1
        await work.client.resource(PODS, namespace="default").delete("large")
        await until(lambda: scheduler(work)["failing"] == 0)
        assert attempts(work, "large") is None


async def test_a_gated_pod_waits_without_an_attempt() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("gated", schedulingGates=[{"name": "example.com/gate"}]))
        await until(lambda: scheduler(work)["queue"]["waiting"] == 1)
        assert attempts(work, "gated") is None
        assert scheduler(work)["total"] == 0
