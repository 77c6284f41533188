"""B15: the second Secret is made only together with the first (percona-server-mongodb-operator K8SPSMDB-578)."""

from sampan.client import Client
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, SECRETS, exists, operator, secret, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        if repaired:
            for name in ("ssl", "ssl-internal"):
                if not await exists(client, SECRETS, name):
                    await client.resource(SECRETS).create(secret(name))
        elif not await exists(client, SECRETS, "ssl"):
            await client.resource(SECRETS).create(secret("ssl"))
            await client.resource(SECRETS).create(secret("ssl-internal"))
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def two_secrets(cluster: Cluster) -> None:
        await cluster.apply(store())

    return two_secrets
