"""B1: what the deleted store owned is deleted by name, also that of its successor (cluster-operator #648)."""

from sampan.client import AlreadyExists, Client, Conflict, DeleteOptions, NotFound
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import (
    CRD,
    SETS,
    is_ending,
    operator,
    owner_of,
    stateful_set,
    store,
    with_finalizer,
    without_finalizer,
)


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair."""

    async def delete(client: Client, found: Object) -> None:
        options = DeleteOptions()
        if repaired:
            present = next((each for each in (await client.resource(SETS).list()).items if _owns(found, each)), None)
            if present is None:
                return
            options = DeleteOptions(uid=present["metadata"]["uid"])
        try:
            await client.resource(SETS).delete("s", options)
        except (NotFound, Conflict):
            return

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        if is_ending(found):
            await delete(client, found)
            await without_finalizer(client, found)
            return None
        await with_finalizer(client, found)
        try:
            await client.resource(SETS).create(stateful_set("s", ownerReferences=owner_of(found)))
        except AlreadyExists:
            return None
        return None

    @scenario(operator(reconcile, SETS), crds=[CRD])
    async def recreate(cluster: Cluster) -> None:
        await cluster.apply(store())
        await cluster.settled()
        await cluster.delete("stores/s")
        await cluster.settled()
        await cluster.apply(store())

    return recreate


def _owns(owner: Object, obj: Object) -> bool:
    return any(each["uid"] == owner["metadata"]["uid"] for each in obj["metadata"].get("ownerReferences", ()))
