"""D6: what the cache of another kind does not have yet is taken for absent, for good."""

from sampan.client import MergePatch
from sampan.informer.ref import Ref
from sampan.operator import Builder, Manager, RetryLater
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the reconcile is repeated later."""

    def set_up(manager: Manager) -> None:
        maps, stores = manager.client.resource(MAPS), manager.client.resource(STORES)

        async def none(ref: Ref[Object]) -> list[Request]:
            return []

        async def reconcile(request: Request) -> None:
            found = await stores.find(request)
            if found is None or "status" in found:
                return
            settings = await maps.find(Request("default", "settings"))
            if settings is None and repaired:
                raise RetryLater("the settings are absent")
            state = "Failed" if settings is None else "Ready"
            await stores.status.patch(request.name, MergePatch({"status": {"state": state}}))

        Builder(manager).for_(STORES).watches(MAPS, none).complete(reconcile)

    @scenario(set_up, crds=[CRD])
    async def settings_first(cluster: Cluster) -> None:
        await cluster.apply(config_map("settings", {"mode": "fast"}))
        await cluster.apply(store())

    return settings_first
