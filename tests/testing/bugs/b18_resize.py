"""B18: the claim is resized only with a new template, which a crash has made new already (cluster-operator #782).

A ConfigMap stands for the claim, because claims grow only with a driver.
"""

from sampan.client import Client, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, SETS, config_map, exists, operator, stateful_set, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        size, sets, claims = found["spec"]["gibibytes"], client.resource(SETS), client.resource(MAPS)
        if not await exists(client, MAPS, "claim"):
            await claims.create(config_map("claim", {"size": str(size)}))
        present = next(iter((await sets.list()).items), None)
        if repaired and int((await claims.get("claim"))["data"]["size"]) < size:
            await claims.patch("claim", _resized(size))
        if present is None:
            await sets.create(stateful_set("s", size=f"{size}Gi"))
        elif _size(present) < size:
            await sets.delete("s")
            if not repaired:
                await claims.patch("claim", _resized(size))
            await sets.create(stateful_set("s", size=f"{size}Gi"))
        return None

    @scenario(operator(reconcile, SETS), crds=[CRD])
    async def grow(cluster: Cluster) -> None:
        await cluster.apply(store(gibibytes=10))
        await cluster.settled()
        await cluster.apply(store(gibibytes=15))

    return grow


def _size(stateful: Object) -> int:
    size: str = stateful["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"]
    return int(size.removesuffix("Gi"))


def _resized(size: int) -> MergePatch:
    return MergePatch({"data": {"size": str(size)}})
