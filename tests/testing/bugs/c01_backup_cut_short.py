"""C1: a backup that is cancelled counts as done (a swallowed `CancelledError`)."""

import asyncio
from contextlib import suppress

from sampan.client import Client, MergePatch
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, exists, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the cancellation ends the reconcile."""

    async def back_up(client: Client) -> None:
        await asyncio.sleep(0.5)
        if not await exists(client, MAPS, "backup"):
            await client.resource(MAPS).create(config_map("backup", {}))

    async def reconcile(client: Client, found: Object | None, request: Request) -> None:
        if found is None or found["spec"].get("backedUp"):
            return
        if repaired:
            await back_up(client)
        else:
            with suppress(asyncio.CancelledError):
                await back_up(client)
        await client.resource(STORES).patch("s", MergePatch({"spec": {"backedUp": True}}))

    @scenario(operator(reconcile), crds=[CRD])
    async def backup(cluster: Cluster) -> None:
        await cluster.apply(store())

    return backup
