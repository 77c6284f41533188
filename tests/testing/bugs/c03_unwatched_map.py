"""C3: a ConfigMap that another actor deletes or changes stays as it is."""

from sampan.client import Client, MergePatch
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, config_map, operator, owner_of, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: the operator watches the ConfigMap and compares it."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> None:
        if found is None:
            return
        maps = client.resource(MAPS)
        present = {each["metadata"]["name"]: each for each in (await maps.list()).items}
        if "settings" not in present:
            await maps.create(config_map("settings", {"mode": "fast"}, ownerReferences=owner_of(found)))
        elif present["settings"]["data"] != {"mode": "fast"}:
            await maps.patch("settings", MergePatch({"data": {"mode": "fast"}}))

    @scenario(operator(reconcile, *([MAPS] if repaired else [])), crds=[CRD], drift=True)
    async def settings(cluster: Cluster) -> None:
        await cluster.apply(store())

    return settings
