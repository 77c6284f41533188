"""The whole scheduler on a server in this process."""

from collections import Counter
from typing import Any

from sampan.loops.resources import NODES, PODS
from sampan.resource import Object
from sampan.scheduler.set_up import set_up
from tests.controllers.cluster import Working, cluster
from tests.scheduler.objects import node_object, pod_object


async def make_nodes(work: Working, *nodes: Object) -> None:
    for node in nodes:
        await work.create(NODES, node)
        await work.patch_status(NODES, node["metadata"]["name"], node["status"])


async def make_pods(work: Working, *pods: Object) -> None:
    for pod in pods:
        await work.create(PODS, pod)


async def bound(work: Working, name: str) -> str:
    """The Node of a Pod, as soon as it has one."""
    pod = await work.until(PODS, name, lambda pod: pod["spec"].get("nodeName"))
    node_name: str = pod["spec"]["nodeName"]
    return node_name


def not_scheduled(pod: Object) -> Any:
    """The message of its condition, if it says that the Pod has no Node."""
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return condition["message"]
    return None


async def test_a_pod_gets_a_node() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("web"))
        assert await bound(work, "web") == "node-1"


async def test_it_is_told_by_an_event() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("web"))
        (event,) = await work.events("Scheduled")
        assert event["message"] == "Successfully assigned default/web to node-1"


async def test_pods_spread_over_like_nodes() -> None:
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


async def test_pods_of_other_schedulers_are_left_alone() -> None:
    async with cluster(set_up) as work:
        await make_nodes(work, node_object("node-1"))
        await make_pods(work, pod_object("theirs", schedulerName="other"), pod_object("ours"))
        await bound(work, "ours")
        assert "nodeName" not in (await work.get(PODS, "theirs"))["spec"]
