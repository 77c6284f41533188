"""C5: an operator reads its settings once, so those that come later are never used."""

from sampan.client import MergePatch, NotFound
from sampan.operator import Builder, Manager
from sampan.operator.request import Request
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, SECRETS, STORES, config_map, secret, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: an error, so that the reconcile is repeated."""

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            found = await manager.client.resource(STORES).find(request)
            if found is None or "ready" in found["spec"]:
                return
            try:
                await manager.client.resource(SECRETS).get("password")
                await manager.client.resource(MAPS).get("settings")
            except NotFound:
                if repaired:
                    raise
                return
            await manager.client.resource(STORES).patch(request.name, MergePatch({"spec": {"ready": True}}))

        Builder(manager).for_(STORES).complete(reconcile)

    @scenario(set_up, crds=[CRD], needs=[secret("password"), config_map("settings", {"mode": "fast"})])
    async def password(cluster: Cluster) -> None:
        await cluster.apply(store())

    return password
