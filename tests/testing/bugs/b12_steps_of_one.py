"""B12: only a size of one less than the present one is accepted (casskop #342). ConfigMaps stand for the Pods."""

from sampan.client import Client
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, config_map, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: all surplus Pods are deleted."""

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        pods, size = client.resource(MAPS), found["spec"]["replicas"]
        names = sorted(
            each["metadata"]["name"] for each in (await pods.list()).items if "pod-" in each["metadata"]["name"]
        )
        for number in range(size):
            if f"pod-{number}" not in names:
                await pods.create(config_map(f"pod-{number}"))
        if repaired or size == len(names) - 1:
            for name in names[size:]:
                await pods.delete(name)
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def down_in_steps(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=2))
        for replicas in (1, 0):
            await cluster.settled()
            await cluster.apply(store(replicas=replicas))

    return down_in_steps
