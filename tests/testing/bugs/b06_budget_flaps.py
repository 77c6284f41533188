"""B6: a disruption budget that differs from the cached store is made again with the old value (casskop #321).

A ConfigMap stands for the budget.
"""

from sampan.client import Client, DeleteOptions
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, config_map, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the budget records the generation of its store."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        budgets, generation = client.resource(MAPS), found["metadata"]["generation"]
        desired = {"max": str(found["spec"]["maxUnavailable"]), "generation": str(generation)}
        items = (await budgets.list()).items
        present = next((each for each in items if each["metadata"]["name"] == "budget"), None)
        if present is not None:
            if present["data"] == desired or (repaired and int(present["data"]["generation"]) > generation):
                return None
            await budgets.delete("budget", DeleteOptions(uid=present["metadata"]["uid"]))
        await budgets.create(config_map("budget", desired))
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def fewer(cluster: Cluster) -> None:
        await cluster.apply(store(maxUnavailable=4))
        await cluster.settled()
        await cluster.apply(store(maxUnavailable=1))

    return fewer
