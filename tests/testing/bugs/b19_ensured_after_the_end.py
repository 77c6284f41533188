"""B19: children are made again after the finalizer was removed (zookeeper-operator #410)."""

from typing import Any

from sampan.client import AlreadyExists, Client
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import (
    CRD,
    MAPS,
    STORES,
    config_map,
    is_ending,
    operator,
    owner_of,
    store,
    with_finalizer,
    without_finalizer,
)


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        if is_ending(found):
            await without_finalizer(client, found)
            if repaired:
                return None
        else:
            await with_finalizer(client, found)
        owner = next(iter((await client.resource(STORES).list()).items), None)
        try:
            references: dict[str, Any] = {} if owner is None else {"ownerReferences": owner_of(owner)}
            await client.resource(MAPS).create(config_map("s", **references))
        except AlreadyExists:
            return None
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def create_and_delete(cluster: Cluster) -> None:
        await cluster.apply(store())
        await cluster.settled()
        await cluster.delete("stores/s")

    return create_and_delete
