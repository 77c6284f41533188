"""D3: the status records the generation that the response to a write shows, not the one that was reconciled."""

from sampan.client import Client, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, operator, store

_MARK = "bugs.example.com/managed"


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the generation of the object that was reconciled."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None or found["metadata"]["generation"] == found.get("status", {}).get("observed"):
            return None
        done = found
        if _MARK not in found["metadata"].get("annotations", {}):
            done = await client.resource(STORES).patch("s", MergePatch({"metadata": {"annotations": {_MARK: "yes"}}}))
        await client.resource(MAPS).apply(config_map("out", {"size": str(found["spec"]["size"])}))
        observed = (found if repaired else done)["metadata"]["generation"]
        await client.resource(STORES).status.patch("s", MergePatch({"status": {"observed": observed}}))
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def resized(cluster: Cluster) -> None:
        await cluster.apply(store(size=1))
        await cluster.settled()
        await cluster.apply(store(size=2))

    return resized
