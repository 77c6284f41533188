"""Tests of the whole scheduler on a server in this process."""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import pytest

from sampan.client import Conflict
from sampan.component_base.resources import (
    NAMESPACES,
    NODES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
)
from sampan.resource import Object
from sampan.scheduler.configuration import read_configuration
from sampan.scheduler.set_up import set_up
from tests.client.connected import connected
from tests.controllers.cluster import Working, cluster, working
from tests.scheduler.objects import node_object, pod_object


async def make_nodes(work: Working, *nodes: Object) -> None:
    """Create Nodes, and wait until they are in the scheduler's cache."""
    for node in nodes:
        await work.create(NODES, node)
        await work.patch_status(NODES, node["metadata"]["name"], node["status"])
    latest = await work.get(NODES, nodes[-1]["metadata"]["name"])
    await work.manager.informers.informer_for(NODES).at_least(latest["metadata"]["resourceVersion"])


async def make_pods(work: Working, *pods: Object) -> None:
    """Create Pods; a priority is set with a separate PriorityClass."""
    for pod in pods:
        spec = pod["spec"]
        if spec.get("priority"):
            policy = spec.pop("preemptionPolicy", "PreemptLowerPriority")
            spec["priorityClassName"] = name = f"of-{pod['metadata']['name']}"
            priority_class = {"metadata": {"name": name}, "value": spec.pop("priority"), "preemptionPolicy": policy}
            await work.create(PRIORITY_CLASSES, priority_class)
        await work.create(PODS, pod)


async def bound(work: Working, name: str) -> str:
    """Wait until a Pod has a Node, and return it."""
    pod = await work.until(PODS, name, lambda pod: pod["spec"].get("nodeName"))
    node_name: str = pod["spec"]["nodeName"]
    return node_name


def not_scheduled(pod: Object) -> Any:
    """Return the message of the condition PodScheduled, if it is False."""
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return condition["message"]
    return None


async def test_a_pod_gets_a_node() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("web"))
        assert await bound(work, "web") == "node-1"


async def test_a_binding_is_recorded_as_an_event() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("web"))
        (event,) = await work.events("Scheduled")
        assert event["message"] == "Successfully assigned default/web to node-1"


async def test_pods_spread_over_equal_nodes() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, *(node_object(f"node-{number}") for number in range(4)))
        await make_pods(work, *(pod_object(f"web-{number}", requests={"cpu": "500m"}) for number in range(8)))
        nodes = Counter([await bound(work, f"web-{number}") for number in range(8)])
        assert set(nodes.values()) == {2}


async def test_a_pod_that_fits_nowhere_gets_a_node_when_one_appears() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("small", cpu="1"))
        await make_pods(work, pod_object("web", requests={"cpu": "2"}))
        pod = await work.until(PODS, "web", not_scheduled)
        assert not_scheduled(pod).startswith("0/1 nodes are available: 1 Insufficient cpu.")
        await make_nodes(work, node_object("large", cpu="4"))
        assert await bound(work, "web") == "large"


async def test_pods_of_other_schedulers_are_ignored() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("theirs", schedulerName="other"), pod_object("ours"))
        await bound(work, "ours")
        assert "nodeName" not in (await work.get(PODS, "theirs"))["spec"]


async def test_taints_repel_pods() -> None:
    taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("tainted", taints=[taint]))
        await make_pods(work, pod_object("web"))
        pod = await work.until(PODS, "web", not_scheduled)
        assert not_scheduled(pod) == (
            "0/1 nodes are available: 1 node(s) had untolerated taint(s). "
            "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )
        await make_pods(work, pod_object("db", tolerations=[{"key": "dedicated", "operator": "Exists"}]))
        assert await bound(work, "db") == "tainted"


async def test_a_pod_is_retried_when_a_taint_is_removed() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1", unschedulable=True))
        await make_pods(work, pod_object("web"))
        assert "1 node(s) were unschedulable" in not_scheduled(await work.until(PODS, "web", not_scheduled))
        await work.patch(NODES, "node-1", {"spec": {"unschedulable": None}})
        assert await bound(work, "web") == "node-1"


async def test_the_node_selector_decides() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, *(node_object(f"node-{disk}", labels={"disk": disk}) for disk in ("ssd", "hdd")))
        await make_pods(work, pod_object("web", nodeSelector={"disk": "ssd"}))
        assert await bound(work, "web") == "node-ssd"


async def test_anti_affinity_separates_replicas() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    async with cluster(set_up) as work:
        await make_nodes(work, *(node_object(f"node-{number}") for number in range(3)))
        pods = [pod_object(f"web-{number}", labels={"app": "web"}, affinity=affinity) for number in range(4)]
        await make_pods(work, *pods[:3])
        assert len({await bound(work, f"web-{number}") for number in range(3)}) == 3
        await make_pods(work, pods[3])
        message = not_scheduled(await work.until(PODS, "web-3", not_scheduled))
        assert message.startswith("0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.")
        await work.delete(PODS, "web-1")
        await bound(work, "web-3")


async def test_pods_are_spread_evenly_over_zones() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    async with cluster(set_up) as work:
        zones = {"node-1": "a", "node-2": "a", "node-3": "a", "node-4": "b"}
        await make_nodes(work, *(node_object(name, labels={"zone": zone}) for name, zone in zones.items()))
        names = [f"web-{number}" for number in range(8)]
        await make_pods(
            work, *(pod_object(name, labels={"app": "web"}, topologySpreadConstraints=[spread]) for name in names)
        )
        found = Counter([zones[await bound(work, name)] for name in names])
        assert found == {"a": 4, "b": 4}


async def test_replicas_are_spread_over_hosts_by_default() -> None:
    async with cluster(set_up) as work:
        await make_nodes(
            work, node_object("small", cpu="8", memory="16Gi"), node_object("large", cpu="10", memory="20Gi")
        )
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        replica_set = await work.create(REPLICA_SETS, {"metadata": {"name": "web"}, "spec": spec})
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "web",
            "uid": replica_set["metadata"]["uid"],
            "controller": True,
        }
        names = [f"web-{number}" for number in range(6)]
        await make_pods(work, *(pod_object(name, labels={"app": "web"}, owner=owner) for name in names))
        assert set(Counter([await bound(work, name) for name in names]).values()) == {3}


async def test_a_gated_pod_waits_until_its_gate_is_removed() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("gated", schedulingGates=[{"name": "example.com/quota"}]), pod_object("web"))
        await bound(work, "web")
        assert "nodeName" not in (await work.get(PODS, "gated"))["spec"]
        await work.patch(PODS, "gated", {"spec": {"schedulingGates": None}})
        assert await bound(work, "gated") == "node-1"


async def test_an_important_pod_preempts_another() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1", cpu="1"))
        await make_pods(work, pod_object("low", requests={"cpu": "800m"}))
        await bound(work, "low")
        await make_pods(work, pod_object("high", requests={"cpu": "800m"}, priority=1000))
        assert await bound(work, "high") == "node-1"
        assert not await work.exists(PODS, "low")
        (event,) = await work.events("Preempted")
        assert event["regarding" if "regarding" in event else "involvedObject"]["name"] == "low"


async def test_a_pod_that_must_not_preempt_waits() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1", cpu="1"))
        await make_pods(work, pod_object("low", requests={"cpu": "800m"}))
        await bound(work, "low")
        await make_pods(work, pod_object("high", requests={"cpu": "800m"}, priority=1000, preemptionPolicy="Never"))
        message = not_scheduled(await work.until(PODS, "high", not_scheduled))
        assert message.endswith("preemption: not eligible due to preemptionPolicy=Never.")
        assert await work.exists(PODS, "low")


async def test_protected_pods_are_preempted_last() -> None:
    async with cluster(set_up) as work:
        budget = {"metadata": {"name": "a"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}}
        await work.create(POD_DISRUPTION_BUDGETS, budget)
        await make_nodes(work, *(node_object(f"node-{name}", cpu="1", labels={"is": name}) for name in ("a", "b")))
        for name in ("a", "b"):
            labels = {"app": name}
            await make_pods(work, pod_object(name, requests={"cpu": "800m"}, labels=labels, nodeSelector={"is": name}))
            await bound(work, name)
        await make_pods(work, pod_object("high", requests={"cpu": "800m"}, priority=1000))
        assert await bound(work, "high") == "node-b"


async def test_each_profile_has_its_own_pods() -> None:
    profiles = [
        {"schedulerName": "default-scheduler"},
        {"schedulerName": "picky", "plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}},
    ]
    configured = partial(set_up, configuration=read_configuration({"profiles": profiles}))
    async with cluster(configured) as work:
        taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
        await make_nodes(work, node_object("tainted", taints=[taint]))
        await make_pods(work, pod_object("plain"), pod_object("careless", schedulerName="picky"))
        assert await bound(work, "careless") == "tainted"
        assert not_scheduled(await work.until(PODS, "plain", not_scheduled))


async def test_bound_pods_use_their_nodes() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1", cpu="1"))
        await make_pods(work, pod_object("static", requests={"cpu": "800m"}, nodeName="node-1"))
        await make_pods(work, pod_object("web", requests={"cpu": "800m"}))
        assert "1 Insufficient cpu" in not_scheduled(await work.until(PODS, "web", not_scheduled))
        await work.delete(PODS, "static")
        assert await bound(work, "web") == "node-1"


async def test_a_namespace_selector_matches_labels_of_namespaces() -> None:
    term = {
        "labelSelector": {"matchLabels": {"app": "db"}},
        "namespaceSelector": {"matchLabels": {"team": "storage"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    async with cluster(set_up) as work:
        await work.create(NAMESPACES, {"metadata": {"name": "storage", "labels": {"team": "storage"}}})
        await make_nodes(work, *(node_object(f"node-{number}") for number in range(4)))
        storage = work.client.resource(PODS, namespace="storage")
        db: Any = pod_object("db", labels={"app": "db"}, namespace="storage", nodeName="node-2")
        db |= {"apiVersion": "v1", "kind": "Pod"}
        await storage.create(db)
        await make_pods(work, pod_object("web", affinity=affinity))
        assert await bound(work, "web") == "node-2"


async def test_an_unschedulable_pod_gets_an_event_and_a_condition() -> None:
    async with cluster(set_up) as work:
        await make_pods(work, pod_object("web", requests={"cpu": "2"}))
        pod = await work.until(PODS, "web", not_scheduled)
        assert not_scheduled(pod) == "no nodes available to schedule pods"
        (event,) = await work.events("FailedScheduling")
        assert event["message"] == "no nodes available to schedule pods"
        await make_nodes(work, node_object("small", cpu="1"))
        again = await work.until(PODS, "web", lambda pod: "Insufficient cpu" in (not_scheduled(pod) or ""))
        times = [each["lastTransitionTime"] for obj in (pod, again) for each in obj["status"]["conditions"]]
        assert len(times) == 2
        assert len(set(times)) == 1


async def test_a_pod_bound_by_another_client_is_ignored() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"), node_object("node-2"))
        await make_pods(work, pod_object("gated", schedulingGates=[{"name": "g"}]), pod_object("web"))
        node_name = await bound(work, "web")
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}}
        with pytest.raises(Conflict):
            await (
                work.client.resource(PODS)
                .subresource("binding")
                .create("web", {**binding, "target": {"kind": "Node", "name": "node-1"}})
            )
        assert await bound(work, "web") == node_name


async def test_after_a_restart_bound_pods_are_counted() -> None:
    async with connected() as (client, _):
        async with working(client, set_up) as work:
            await make_nodes(work, *(node_object(f"node-{number}", cpu="1") for number in range(3)))
            await make_pods(work, *(pod_object(f"a-{number}", requests={"cpu": "800m"}) for number in range(2)))
            taken = {await bound(work, f"a-{number}") for number in range(2)}
        async with working(client, set_up) as work:
            await make_pods(work, pod_object("b", requests={"cpu": "800m"}))
            assert await bound(work, "b") not in taken


async def test_many_pods_are_bound_without_overcommitting_nodes() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, *(node_object(f"node-{number}", cpu="2") for number in range(5)))
        names = [f"web-{number}" for number in range(24)]
        await asyncio.gather(*(make_pods(work, pod_object(name, requests={"cpu": "500m"})) for name in names))
        pods = await work.until_all(PODS, lambda pods: sum("nodeName" in pod["spec"] for pod in pods) == 20)
        await work.until_all(PODS, lambda pods: sum(bool(not_scheduled(pod)) for pod in pods) >= 4)
        nodes = Counter(pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"])
        assert set(nodes.values()) == {4}
