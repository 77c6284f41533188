"""B3: claims are deleted by a status and a size from the cache, which may be old (zookeeper-operator #314).

ConfigMaps stand for the claims.
"""

from sampan.client import Client, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: a live read before a claim is deleted."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        size, ready = found["spec"]["replicas"], found.get("status", {}).get("readyReplicas", 0)
        claims, stores = client.resource(MAPS), client.resource(STORES)
        if ready != size:
            status = MergePatch({"status": {"readyReplicas": size}})
            await stores.subresource("status").patch("s", status)
        names = {each["metadata"]["name"] for each in (await claims.list()).items}
        present = {name for name in names if name.startswith("data-")}
        desired = {f"data-s-{number}" for number in range(size)}
        for name in sorted(desired - present):
            await claims.create(config_map(name))
        if ready == size:
            live = await client.direct.resource(STORES).get("s") if repaired else found  # type: ignore[attr-defined]
            if live["spec"]["replicas"] != size:
                return None
            for name in sorted(present - desired):
                await claims.delete(name)
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def down_and_up(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=2))
        for replicas in (1, 2):
            await cluster.settled()
            await cluster.apply(store(replicas=replicas))

    return down_and_up
