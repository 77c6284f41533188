"""B7: the child of a feature is deleted as soon as the feature is off in the cache (yugabyte-operator #35)."""

from sampan.client import Client
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, SECRETS, STORES, exists, operator, secret, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: a live read before the deletion."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        present = await exists(client, SECRETS, "tls")
        if found["spec"]["feature"]:
            if not present:
                await client.resource(SECRETS).create(secret("tls"))
        elif present:
            live = await _live(client) if repaired else found
            if not live["spec"]["feature"]:
                await client.resource(SECRETS).delete("tls")
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def off_and_on(cluster: Cluster) -> None:
        await cluster.apply(store(feature=True))
        for feature in (False, True):
            await cluster.settled()
            await cluster.apply(store(feature=feature))

    return off_and_on


async def _live(client: Client) -> Object:
    return await client.direct.resource(STORES).get("s")  # type: ignore[attr-defined, no-any-return]
