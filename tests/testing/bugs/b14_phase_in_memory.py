"""B14: a Pod that is gone already ends the work, and its claim stays (casskop #370).

ConfigMaps stand for the Pod and for its claim.
"""

from sampan.client import Client, MergePatch
from sampan.operator import Result
from sampan.operator.request import Request
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import Scenario, scenario
from tests.testing.bugs.store import CRD, MAPS, STORES, config_map, exists, operator, store


def case(*, repaired: bool) -> Scenario:
    """Return the scenario with the bug, or with its repair: a Pod that is gone counts as deleted."""

    async def delete(client: Client, name: str) -> None:
        if await exists(client, MAPS, name):
            await client.resource(MAPS).delete(name)

    async def scale_down(client: Client, phase: str) -> None:
        if phase != "Ongoing":
            await _set_phase(client, "Ongoing")
        elif repaired or await exists(client, MAPS, "pod"):
            await delete(client, "pod")
            await delete(client, "claim")
            await _set_phase(client, "Done")

    async def reconcile(client: Client, found: Object | None, request: Request) -> Result | None:
        if found is None:
            return None
        phase = found.get("status", {}).get("phase", "")
        if found["spec"]["replicas"] == 0:
            if phase != "Done":
                await scale_down(client, phase)
            return None
        for name in ("claim", "pod"):
            if not await exists(client, MAPS, name):
                await client.resource(MAPS).create(config_map(name))
        return None

    @scenario(operator(reconcile), crds=[CRD])
    async def to_zero(cluster: Cluster) -> None:
        await cluster.apply(store(replicas=1))
        await cluster.settled()
        await cluster.apply(store(replicas=0))

    return to_zero


async def _set_phase(client: Client, phase: str) -> None:
    await client.resource(STORES).status.patch("s", MergePatch({"status": {"phase": phase}}))
