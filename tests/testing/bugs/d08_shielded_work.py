"""D8: work that is shielded from cancellation waits, and writes after the lease is lost."""

import asyncio

from sampan.operator import Builder, Manager
from sampan.operator.request import Request
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, store

_WORK_S = 15.0


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the work ends with its reconcile."""

    def set_up(manager: Manager) -> None:
        client = manager.client

        async def work() -> None:
            await asyncio.sleep(_WORK_S)
            # The client of the lease refuses writes of a former leader; that of the work does not.
            await client.direct.resource(MAPS).apply(config_map("out"))

        async def reconcile(request: Request) -> None:
            found = await client.resource(STORES).find(request)
            if found is not None and await client.direct.resource(MAPS).list() is not None:
                await (work() if repaired else asyncio.shield(asyncio.create_task(work())))

        Builder(manager).for_(STORES).complete(reconcile)

    @scenario(set_up, crds=[CRD], lease="bugs")
    async def worked(cluster: Cluster) -> None:
        await cluster.apply(store())
        await cluster.advance(seconds=60)

    return worked
