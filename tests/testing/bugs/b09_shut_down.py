"""B9: a node above the cached size is shut down (cloud-on-k8s #5274). ConfigMaps stand for the nodes."""

from sampan.client import Client
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: a live read before a node is shut down."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        nodes = client.resource(MAPS)
        present = {
            each["metadata"]["name"] for each in (await nodes.list()).items if "node-" in each["metadata"]["name"]
        }
        for name in sorted(_desired(found) - present):
            await nodes.create(config_map(name))
        if surplus := present - _desired(found):
            live = await client.direct.resource(STORES).get("s") if repaired else found  # type: ignore[attr-defined]
            for name in sorted(surplus - _desired(live)):
                await nodes.delete(name)
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def scale_up(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=1))
        await cluster.settled()
        await cluster.apply(store(replicas=2))

    return scale_up


def _desired(found: Object) -> set[str]:
    return {f"node-{number}" for number in range(found["spec"]["replicas"])}
