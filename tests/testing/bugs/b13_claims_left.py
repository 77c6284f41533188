"""B13: claims are made with their Pods and never deleted (percona-xtradb-cluster-operator K8SPXC-918).

ConfigMaps stand for the claims.
"""

from sampan.client import Client
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, config_map, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        claims, size = client.resource(MAPS), found["spec"]["replicas"]
        present = {
            each["metadata"]["name"] for each in (await claims.list()).items if "data-" in each["metadata"]["name"]
        }
        desired = {f"data-s-{number}" for number in range(size)}
        for name in sorted(desired - present):
            await claims.create(config_map(name))
        if repaired:
            for name in sorted(present - desired):
                await claims.delete(name)
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def up_and_down(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=1))
        for replicas in (2, 1):
            await cluster.settled()
            await cluster.apply(store(replicas=replicas))

    return up_and_down
