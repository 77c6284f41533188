"""B5: a StatefulSet of another size is made again, also if it is larger than wanted (cluster-operator #653)."""

from sampan.client import Client, DeleteOptions
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, SETS, operator, owner_of, stateful_set, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: sizes only grow."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        size, sets = found["spec"]["gibibytes"], client.resource(SETS)
        present = next(iter((await sets.list()).items), None)
        if present is not None:
            if not (_size(present) < size if repaired else _size(present) != size):
                return None
            await sets.delete("s", DeleteOptions(uid=present["metadata"]["uid"]))
        await sets.create(stateful_set("s", size=f"{size}Gi", ownerReferences=owner_of(found)))
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
