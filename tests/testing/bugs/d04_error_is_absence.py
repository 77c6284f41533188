"""D4: each error of a read is taken for the absence of the object: a password is made again."""

from sampan.client import ApiError, NotFound, TransportTimeout
from sampan.operator import Builder, Manager
from sampan.operator.request import Request
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, SECRETS, STORES, config_map, secret, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: only `NotFound` is the absence."""
    return _case(NotFound if repaired else ApiError)


def case_of_timeout(*, repaired: bool) -> Scenario:
    """Return the same for a timeout."""
    return _case(NotFound, *(() if repaired else (TransportTimeout,)))


def _case(*absent: type[Exception]) -> Scenario:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            if await manager.client.resource(STORES).find(request) is None:
                return
            try:
                await manager.client.direct.resource(SECRETS).get("password")
            except absent:
                await manager.client.resource(MAPS).apply(config_map("recovery"))

        Builder(manager).for_(STORES).complete(reconcile)

    @scenario(set_up, crds=[CRD])
    async def password(cluster: Cluster) -> None:
        await cluster.apply(secret("password"))
        await cluster.apply(store())

    return password
