"""D7: a write is repeated five times, and then given up without an error."""

import asyncio

from sampan.client import Client, TransportError
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, config_map, operator, store

_ATTEMPTS = 5


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the last error is raised."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        for attempt in range(_ATTEMPTS if found is not None else 0):
            try:
                await client.resource(MAPS).apply(config_map("out"))
            except TransportError:
                if repaired and attempt == _ATTEMPTS - 1:
                    raise
                await asyncio.sleep(1.0)
            else:
                break
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def out(cluster: Cluster) -> None:
        await cluster.apply(store())

    return out
