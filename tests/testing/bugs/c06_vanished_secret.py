"""C6: an operator deletes its work when a Secret is gone, and does not notice that the Secret comes back."""

from sampan.client import NotFound
from sampan.operator import Builder, Manager
from sampan.operator.caches.cached_client import CachedResourceClient
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, SECRETS, STORES, config_map, secret, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the work stays, and the reconcile is repeated."""

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            found = await manager.client.resource(STORES).find(request)
            if found is None:
                return
            maps, name = manager.client.resource(MAPS), f"login-{request.name}"
            try:
                await manager.client.resource(SECRETS).get("password")
            except NotFound:
                # A Secret that has never existed is expected: then the reconcile is repeated.
                if repaired or await _is_absent(maps, name):
                    raise
                await maps.delete(name)
                return
            await maps.apply(config_map(name, {"size": str(found["spec"]["size"])}))

        Builder(manager).for_(STORES).complete(reconcile)

    @scenario(set_up, crds=[CRD], needs=[secret("password")])
    async def login(cluster: Cluster) -> None:
        await cluster.apply(store(size=1))
        await cluster.settled()
        await cluster.apply(store(size=2))

    return login


async def _is_absent(maps: CachedResourceClient[Object], name: str) -> bool:
    try:
        await maps.get(name)
    except NotFound:
        return True
    return False
