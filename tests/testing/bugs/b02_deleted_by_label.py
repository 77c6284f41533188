"""B2: an ending store deletes all claims with its name as label, also those of its successor (cassandra-operator #402).

ConfigMaps stand for the claims.
"""

from sampan.client import AlreadyExists, Client, Conflict, DeleteOptions, NotFound
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import (
    CRD,
    MAPS,
    config_map,
    is_ending,
    operator,
    store,
    with_finalizer,
    without_finalizer,
)


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the label has the uid of the store."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        claims, label = client.resource(MAPS), found["metadata"]["uid" if repaired else "name"]
        if is_ending(found):
            for each in (await claims.list()).items:
                if each["metadata"].get("labels", {}).get("store") == label:
                    await _delete(client, each)
            await without_finalizer(client, found)
            return None
        await with_finalizer(client, found)
        try:
            await claims.create(config_map("data-s-0", labels={"store": label}))
        except AlreadyExists:
            return None
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def recreate(cluster: Cluster) -> None:
        await cluster.apply(store())
        await cluster.settled()
        await cluster.delete("stores/s")
        await cluster.settled()
        await cluster.apply(store())

    return recreate


async def _delete(client: Client, claim: Object) -> None:
    try:
        await client.resource(MAPS).delete(claim["metadata"]["name"], DeleteOptions(uid=claim["metadata"]["uid"]))
    except (NotFound, Conflict):
        return
