"""Tests of node health, taints by condition, and eviction by taint."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from sampan.component_base.resources import EVENTS, LEASES, NODES, PODS
from sampan.controllers import node_lifecycle, taint_eviction
from sampan.controllers.node_lifecycle.health import Heartbeat, NodeHealth, health_of, silent_in_s, unknown_conditions
from sampan.controllers.node_lifecycle.node_health_map import NodeHealthMap
from sampan.controllers.node_lifecycle.taints import UNREACHABLE, swaps_no_execute, taints_after
from sampan.controllers.node_lifecycle.zones import RATE, SECONDARY_RATE, TaintingRate, rates
from sampan.controllers.status import find_status_condition
from sampan.controllers.taint_eviction import Toleration, tolerated_for_s
from sampan.core.time import format_time
from sampan.informer.ref import Ref, RefReader
from sampan.kinds import core_v1
from sampan.resource import dynamic, meta
from sampan.wire import json
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def node(ready: str = "True", *, heartbeat: str = "", zone: str = "", **spec: object) -> Any:
    """A node."""
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    conditions = [{"type": "Ready", "status": ready, "lastHeartbeatTime": heartbeat}] if ready else []
    metadata = {"name": "n", "labels": labels, "creationTimestamp": format_time(NOW)}
    return {"metadata": metadata, "spec": spec, "status": {"conditions": conditions}}


def later(seconds: float) -> dt.datetime:
    """A time."""
    return NOW + dt.timedelta(seconds=seconds)


def lease(renewal: str) -> Any:
    """A node's lease."""
    return {"spec": {"renewTime": renewal}}


def test_a_heartbeat_or_renewal_updates_the_health() -> None:
    first = health_of(node(heartbeat="a"), lease("1"), None, NOW)
    assert first == NodeHealth(Heartbeat("a", "1"), NOW)
    assert health_of(node(heartbeat="a"), lease("1"), first, later(10)) == first
    assert health_of(node(heartbeat="a"), lease("2"), first, later(10)).at == later(10)
    assert health_of(node(heartbeat="b"), lease("1"), first, later(10)).at == later(10)


@pytest.mark.parametrize(("ready", "expected"), [("True", 40), ("False", 40), ("", 50)])
def test_a_node_may_be_silent_for_a_while(ready: str, expected: float) -> None:
    assert silent_in_s(node(ready), NodeHealth(Heartbeat("", ""), NOW), later(10)) == expected


def test_conditions_of_a_silent_node_become_unknown() -> None:
    conditions = {each["type"]: each for each in unknown_conditions(node(), later(60))}
    assert set(conditions) == {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}
    assert (conditions["Ready"]["status"], conditions["Ready"]["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert conditions["PIDPressure"]["reason"] == "NodeStatusNeverUpdated"
    again: Any = {**node(), "status": {"conditions": list(conditions.values())}}
    assert unknown_conditions(again, later(90)) == list(conditions.values())


def lease_ref(renewal: str, namespace: str = "kube-node-lease") -> Ref[Any]:
    """The Lease of the node `n` in an informer's store."""
    metadata = {"name": "n", "namespace": namespace}
    return RefReader(dynamic(LEASES)).read(json.encode({"metadata": metadata, **lease(renewal)}))


def test_lease_renewals_are_recorded_by_the_handler() -> None:
    clock = SetClock()
    probes = NodeHealthMap(clock)
    began = probes.observe(node(), lease("1"), clock.now()).at
    clock.forward(10)
    probes.on_update(lease_ref("1"), lease_ref("2"))
    clock.forward(10)
    probes.on_update(lease_ref("2"), lease_ref("2"))
    probes.on_update(lease_ref("2"), lease_ref("3", "default"))
    assert probes.observe(node(), lease("2"), clock.now()).at == began + dt.timedelta(seconds=10)


def keys(taints: list[Any]) -> list[tuple[str, str]]:
    """Return taints in short form."""
    return [(taint["key"].removeprefix("node.kubernetes.io/"), taint["effect"]) for taint in taints]


OWN = {"key": "example.com/mine", "effect": "NoExecute"}
AWAY = {"key": UNREACHABLE, "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("found", "ready", "no_execute", "expected"),
    [
        (node(), "True", False, []),
        (node("False"), "False", False, [("not-ready", "NoSchedule")]),
        (node("Unknown"), "Unknown", True, [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]),
        (node(unschedulable=True), "True", False, [("unschedulable", "NoSchedule")]),
        (node(taints=[OWN, AWAY]), "True", False, [("example.com/mine", "NoExecute")]),
        (node("False", taints=[AWAY]), "False", True, [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")]),
        (
            node("Unknown", taints=[AWAY]),
            "Unknown",
            False,
            [("unreachable", "NoExecute"), ("unreachable", "NoSchedule")],
        ),
    ],
    ids=["ready", "not ready", "unreachable", "cordoned", "well again", "swapped", "kept"],
)
def test_taints_follow_the_conditions_of_a_node(
    found: Any, ready: str, no_execute: bool, expected: list[tuple[str, str]]
) -> None:
    assert keys(taints_after(found, ready, NOW, no_execute=no_execute)) == expected


def test_exchanging_no_execute_taints_evicts_no_more_pods() -> None:
    assert swaps_no_execute(node("False", taints=[AWAY]), "False")
    assert not swaps_no_execute(node("False"), "False")


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([node(), node("Unknown")], RATE),
        ([node("Unknown")], 0.0),
        ([node()] * 2 + [node("Unknown")] * 3, 0.0),
        ([node()] * 20 + [node("Unknown")] * 40, SECONDARY_RATE),
        ([node("Unknown"), node(zone="z")], RATE),
    ],
    ids=["one of two", "all", "most of few", "most of many", "all of one zone"],
)
def test_the_eviction_rate_depends_on_the_share_of_lost_nodes(nodes: list[Any], expected: float) -> None:
    assert rates(nodes)[""] == expected


def test_nodes_are_tainted_one_at_a_time() -> None:
    rate = TaintingRate()
    assert rate.wait_s("z", 0.1, NOW) == 0
    rate.tainted("z", NOW)
    assert rate.wait_s("z", 0.1, later(4)) == 6
    assert rate.wait_s("z", 0.1, later(10)) == 0
    assert rate.wait_s("z", 0, later(10)) is None


TAINT: core_v1.Taint = {"key": UNREACHABLE, "effect": "NoExecute", "value": ""}


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([], 0),
        ([Toleration(key=UNREACHABLE, operator="Exists", effect="NoExecute", toleration_seconds=300)], 300),
        ([Toleration(operator="Exists")], None),
        ([Toleration(key=UNREACHABLE, operator="Exists", toleration_seconds=-1)], 0),
        ([Toleration(key=UNREACHABLE, effect="NoSchedule", operator="Exists")], 0),
        ([Toleration(key=UNREACHABLE, value="x")], 0),
        ([Toleration(key=UNREACHABLE)], None),
        ([Toleration(operator="Exists"), Toleration(key=UNREACHABLE, toleration_seconds=5)], 5),
    ],
)
def test_toleration_seconds_limit_a_toleration(tolerations: list[Toleration], expected: float | None) -> None:
    assert tolerated_for_s([TAINT], tolerations) == expected


async def create_node(c: Working, name: str) -> None:
    """A ready node with a lease."""
    await c.create(NODES, {"metadata": {"name": name}})
    await c.patch_status(NODES, name, {"conditions": [{"type": "Ready", "status": "True"}]})


async def create_pod(c: Working, name: str = "p", *, seconds: int | None = None) -> None:
    """A ready Pod on the node `a`."""
    tolerations = [{"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "a", "terminationGracePeriodSeconds": 0}
    spec |= {"tolerations": tolerations} if seconds is not None else {}
    await c.make_ready(await c.create(PODS, {"metadata": {"name": name}, "spec": spec}))


def about(events: list[Any], pod: str) -> list[str]:
    """Return the notes of events about a Pod."""
    return [event["message"] for event in events if event["involvedObject"]["name"] == pod]


async def touch(c: Working, name: str) -> None:
    """Trigger a reconciliation of a node."""
    await c.patch(NODES, name, {"metadata": {"annotations": {"touched": str(id(object()))}}})


async def test_a_silent_node_is_tainted_and_its_pods_become_not_ready() -> None:
    clock = SetClock()
    async with cluster(node_lifecycle.set_up, clock=clock) as c:
        await create_node(c, "a")
        await create_node(c, "b")
        await create_pod(c)
        await c.events("RegisteredNode")
        clock.forward(51)
        beat = {"type": "Ready", "status": "True", "lastHeartbeatTime": format_time(clock.now())}
        await c.patch_status(NODES, "b", {"conditions": [beat]})
        await touch(c, "a")
        found = await c.until(NODES, "a", lambda n: len(n["spec"].get("taints") or ()) == 2)
        assert sorted(keys(found["spec"]["taints"])) == [("unreachable", "NoExecute"), ("unreachable", "NoSchedule")]
        ready = find_status_condition(found["status"], "Ready")
        assert ready is not None
        assert ready["status"] == "Unknown"
        await c.until(PODS, "p", lambda p: (find_status_condition(p["status"], "Ready") or {}).get("status") == "False")
        await c.events("NodeNotReady")
        assert "taints" not in (await c.get(NODES, "b"))["spec"]
        await c.patch_status(NODES, "a", {"conditions": [beat]})
        await c.until(NODES, "a", lambda n: not n["spec"].get("taints"))


async def test_lease_renewals_keep_a_node_ready() -> None:
    clock = SetClock()
    async with cluster(node_lifecycle.set_up, clock=clock) as c:
        await create_node(c, "a")
        await c.events("RegisteredNode")
        leases = c.client.resource(LEASES, namespace="kube-node-lease")
        clock.forward(40)
        info: Any = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}}
        info["spec"] = {"renewTime": "2026-01-01T00:00:00.000000Z"}
        await leases.create(info)
        await touch(c, "a")
        clock.forward(20)
        await c.patch(NODES, "a", {"spec": {"unschedulable": True}})
        found = await c.until(NODES, "a", lambda n: n["spec"].get("taints"))
        assert keys(found["spec"]["taints"]) == [("unschedulable", "NoSchedule")]


async def test_pods_are_evicted_when_their_toleration_expires() -> None:
    clock = SetClock()
    async with cluster(taint_eviction.set_up, clock=clock) as c:
        await create_node(c, "a")
        await create_pod(c, seconds=30)
        await create_pod(c, "tolerates-nothing")
        await c.patch(NODES, "a", {"spec": {"taints": [AWAY]}})
        await c.until_gone(PODS, "tolerates-nothing")
        assert meta(await c.get(PODS, "p")).deletion_timestamp is None
        clock.forward(31)
        await c.patch(PODS, "p", {"metadata": {"labels": {"a": "c"}}})
        await c.until_gone(PODS, "p")
        events = await c.until_all(EVENTS, lambda events: about(events, "p"))
        assert about(events, "p") == ["Marking for deletion Pod default/p"]


async def test_a_taint_removed_in_time_evicts_no_pods() -> None:
    async with cluster(taint_eviction.set_up) as c:
        await create_node(c, "a")
        await create_pod(c, seconds=300)
        await create_pod(c, "tolerates-nothing")
        await c.patch(NODES, "a", {"spec": {"taints": [AWAY]}})
        await c.until_gone(PODS, "tolerates-nothing")
        await c.patch(NODES, "a", {"spec": {"taints": None}})
        events = await c.until_all(EVENTS, lambda events: about(events, "p"))
        assert about(events, "p") == ["Cancelling deletion of Pod default/p"]
        assert meta(await c.get(PODS, "p")).deletion_timestamp is None


async def test_new_pods_on_a_tainted_node_are_evicted() -> None:
    async with cluster(taint_eviction.set_up) as c:
        await create_node(c, "a")
        await c.patch(NODES, "a", {"spec": {"taints": [OWN]}})
        await create_pod(c)
        await c.until_gone(PODS, "p")


async def test_pods_without_tolerations_are_evicted_immediately() -> None:
    async with cluster(taint_eviction.set_up) as c:
        await create_node(c, "a")
        await create_pod(c)
        await c.patch(NODES, "a", {"spec": {"taints": [OWN]}})
        await c.until_gone(PODS, "p")
