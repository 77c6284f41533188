"""B20: a node that was decommissioned stays so when the size is raised again (cass-operator #410).

ConfigMaps stand for the nodes.
"""

from sampan.client import Client, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, config_map, operator, store

OUT = "bugs.example.com/decommissioned"


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        nodes, size = client.resource(MAPS), found["spec"]["replicas"]
        present = [each for each in (await nodes.list()).items if each["metadata"]["name"].startswith("node-")]
        for number in range(len(present), size):
            await nodes.create(config_map(f"node-{number}"))
        leaving = [each for each in present if OUT in each["metadata"].get("annotations", {})]
        if size < len(present) and not leaving:
            await nodes.patch(f"node-{len(present) - 1}", MergePatch({"metadata": {"annotations": {OUT: "true"}}}))
            return Result(requeue_after_s=5)
        if size < len(present):
            await nodes.delete(leaving[0]["metadata"]["name"])
        elif repaired and leaving:
            await nodes.patch(leaving[0]["metadata"]["name"], MergePatch({"metadata": {"annotations": None}}))
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def smaller_and_back(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=3))
        for replicas in (2, 3):
            await cluster.advance(seconds=10)
            await cluster.apply(store(replicas=replicas))

    return smaller_and_back
