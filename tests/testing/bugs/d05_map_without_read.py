"""D5: a map function reads the stores from the server, and ignores an error: the event is lost."""

from sampan.client import ClientError, MergePatch
from sampan.informer.ref import Ref
from sampan.operator import Builder, Manager
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the error is raised, so the event is repeated."""

    def set_up(manager: Manager) -> None:
        maps, stores = manager.client.resource(MAPS), manager.client.resource(STORES)

        async def stores_of(ref: Ref[Object]) -> list[Request]:
            if ref.name != "settings":
                return []
            try:
                found = await manager.client.direct.resource(STORES).list()
            except ClientError:
                if repaired:
                    raise
                return []
            return [Request("default", each["metadata"]["name"]) for each in found.items]

        async def reconcile(request: Request) -> None:
            found, settings = await stores.find(request), await maps.find(Request("default", "settings"))
            if found is not None and settings is not None and found.get("status") != settings["data"]:
                await stores.status.patch(request.name, MergePatch({"status": settings["data"]}))

        Builder(manager).for_(STORES).watches(MAPS, stores_of).complete(reconcile)

    @scenario(set_up, crds=[CRD])
    async def settings(cluster: Cluster) -> None:
        await cluster.apply(store())
        await cluster.settled()
        await cluster.apply(config_map("settings", {"mode": "fast"}))

    return settings
