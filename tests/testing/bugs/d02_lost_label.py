"""D2: an update without a resourceVersion replaces a ConfigMap of the user, with the labels that were read before."""

from sampan.operator import Builder, Manager
from sampan.operator.request import Request
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import MAPS, config_map


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the update has the resourceVersion of the read."""

    def set_up(manager: Manager) -> None:
        maps = manager.client.resource(MAPS)

        async def reconcile(request: Request) -> None:
            found = await maps.find(request)
            if found is None or request.name != "box" or "checked" in found["data"]:
                return
            data = {**found["data"], "checked": "yes"}
            new = {**found, "data": data} if repaired else config_map("box", data)
            await maps.update(new)

        Builder(manager).for_(MAPS).complete(reconcile)

    @scenario(set_up)
    async def checked(cluster: Cluster) -> None:
        await cluster.apply(config_map("box", {"colour": "blue"}))

    return checked
