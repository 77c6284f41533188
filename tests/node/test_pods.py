"""Pods on a simulated node."""

from sampan.loops.resources import PODS
from sampan.resource import Object
from tests.node.cluster import condition, create, simulated


def is_ready(pod: Object) -> bool:
    return condition(pod, "Ready").get("status") == "True"


async def test_a_bound_pod_becomes_running_and_ready() -> None:
    async with simulated() as cluster:
        await create(cluster, "web")
        pod = await cluster.until(PODS, "web", is_ready)
        assert pod["status"]["phase"] == "Running"


async def test_a_deleted_pod_goes() -> None:
    async with simulated() as cluster:
        await create(cluster, "web")
        await cluster.until(PODS, "web", is_ready)
        await cluster.delete(PODS, "web")
        await cluster.until_gone(PODS, "web")
